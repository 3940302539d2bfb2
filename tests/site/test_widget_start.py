"""From the built page to the live one: the first answer, input made before it, and a start that fails."""

from __future__ import annotations

from conftest import Opens, live, settle, until
from playwright.sync_api import Page, Route
from watch import Watch

RESULTS = "document.querySelector('.widget-results').outerHTML.replaceAll(' disabled=\"\"', '')"
STATUS = "document.querySelector('.widget-status').textContent"


def cells(page: Page) -> str:
    return page.inner_text("[data-readout=cells] .value")


def text_in(page: Page, control: str) -> str:
    return page.input_value(f"#sample-{control}")


def test_the_first_live_answer_equals_the_built_page_byte_for_byte(sample_site: str, opens: Opens) -> None:
    built = f"""fetch('').then((response) => response.text())
      .then((text) => new DOMParser().parseFromString(text, 'text/html')).then((document) => {RESULTS})"""
    for width in (1280, 360):
        page = live(opens(sample_site, width=width))
        assert page.evaluate(RESULTS) == page.evaluate(built)


CALLS = """
  window.calls = {asked: 0, open: 0, most: 0};
  window.Worker = class extends Worker {
    constructor(...given) {
      super(...given);
      this.addEventListener('message', ({data}) => { if (data.id) calls.open--; });
    }
    postMessage(message) {
      calls.asked++;
      calls.most = Math.max(calls.most, ++calls.open);
      super.postMessage(message);
    }
  };"""
MANY_CHANGES = """() => {
  const field = document.querySelector('#sample-layers');
  for (let layers = 1; layers <= 150; layers++) {
    field.value = String(layers);
    field.dispatchEvent(new Event('input', {bubbles: true}));
  }
}"""


def test_the_latest_state_wins_and_one_call_at_most_is_under_way(sample_site: str, opens: Opens) -> None:
    page = opens.fresh()
    page.add_init_script(CALLS)
    page.goto(sample_site)
    live(page)
    assert page.evaluate("calls.asked") == 1  # for the view the page opens with
    page.evaluate(MANY_CHANGES)
    settle(page)
    assert cells(page) == "1,200"  # 150 layers × 8 KV heads
    assert page.evaluate("calls.most") == 1
    assert page.evaluate("calls.asked") < 10


def test_input_made_while_python_starts_is_kept_and_applied(sample_site: str, opens: Opens) -> None:
    page = opens.fresh()
    held: list[Route] = []
    page.context.route("**/*.wasm", lambda route: held.append(route))
    page.goto(sample_site)
    assert page.evaluate(STATUS) in ("Ready when you are", "Starting Python…")
    page.fill("#sample-layers", "53")
    assert page.evaluate(STATUS) == "Starting Python…"
    page.focus("#sample-kv_heads-slider")
    page.keyboard.press("ArrowRight")
    assert text_in(page, "kv_heads") == "16"  # the stop after 8, looked up without Python
    assert page.evaluate("document.querySelector('serving-widget').hasAttribute('data-waiting')")
    assert cells(page) == "640"
    while not held:
        page.wait_for_timeout(20)
    held[0].continue_()
    live(page)
    assert page.evaluate(STATUS) == "Live"
    assert cells(page) == "848"  # 53 layers × 16 KV heads
    assert (text_in(page, "layers"), text_in(page, "kv_heads")) == ("53", "16")


def test_a_failed_start_is_said_and_can_be_tried_again(sample_site: str, opens: Opens, watch: Watch) -> None:
    watch.expected += ["net::ERR_FAILED", "wasm instantiation failed", "Failed to fetch"]
    page = opens.fresh()
    page.context.route("**/*.wasm", lambda route: route.abort())
    page.goto(sample_site)
    page.fill("#sample-layers", "53")
    until(page, "document.querySelector('serving-widget').dataset.phase === 'failed'")
    said = page.evaluate(STATUS)
    assert said.startswith("Python could not start: ") and said.endswith(" The page still shows the default.")
    assert cells(page) == "640"
    page.context.unroute("**/*.wasm")
    page.click("text=Try again")
    live(page)
    assert cells(page) == "424"  # 53 layers × 8 KV heads, typed before it failed


WORKERS = """
  window.workers = [];
  window.Worker = class extends Worker {
    constructor(...given) { super(...given); workers.push(this); }
  };"""


def test_a_play_ends_when_python_fails(sample_site: str, opens: Opens) -> None:
    page = opens.fresh()
    page.add_init_script(WORKERS)
    page.goto(sample_site)
    live(page)
    play = page.locator("[data-repeats]").first
    play.click()
    assert play.inner_text() == "Pause"
    page.evaluate("workers[0].onerror(new ErrorEvent('error', {message: 'out of memory'}))")
    assert play.inner_text() == "Play"
    assert page.evaluate(STATUS).startswith("Python stopped answering.")  # it had started


def test_a_missing_worker_is_said_too(sample_site: str, opens: Opens, watch: Watch) -> None:
    watch.expected += ["404"]
    page = opens.fresh()
    page.context.route("**/worker.mjs", lambda route: route.fulfill(status=404))
    page.goto(sample_site)
    page.focus("#sample-layers")
    until(page, "document.querySelector('serving-widget').dataset.phase === 'failed'")
    assert page.evaluate(STATUS) == (
        "Python could not start: its files did not load. The page still shows the default."
    )
    page.context.unroute("**/worker.mjs")
    page.click("text=Try again")
    live(page)
    assert not page.is_visible("text=Try again")


def test_an_action_pressed_before_python_is_ready_goes_on_from_the_state_of_the_link(site: str, opens: Opens) -> None:
    page = opens(f"{site}explore/kv-cache/#paged_allocator=strategy:paged,step:3")
    page.click("#paged_allocator [data-action=step]")
    live(page)
    settle(page)
    assert page.input_value("#paged_allocator-step") == "4"
