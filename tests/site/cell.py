"""Driving a cell of the built site: its code written, run and read."""

from __future__ import annotations

from dataclasses import dataclass

from conftest import until
from playwright.sync_api import Page


@dataclass
class Cell:
    """One cell of a page."""

    page: Page
    name: str

    @property
    def id(self) -> str:
        return f"cell-{self.name}"

    def find(self, selector: str) -> str:
        """JavaScript for an element inside the cell."""
        return f"document.querySelector('#{self.id} {selector}')"

    def press(self, does: str) -> None:
        self.page.click(f"#{self.id} [data-does={does}]")

    def text(self, part: str) -> str:
        return self.page.text_content(f"#{self.id} .cell-{part}") or ""

    def wait(self, part: str, words: str) -> None:
        """Wait until a part of the cell says so."""
        until(self.page, f"{self.find(f'.cell-{part}')}.textContent.includes({words!r})", f"{part}: {words}")

    def alive(self) -> Cell:
        until(self.page, f"{self.find('[data-does=run]')}?.disabled === false", "the cell has come to life")
        return self

    def open(self) -> None:
        """Open the editor and stand in it."""
        self.press("edit")
        until(self.page, f"document.activeElement.matches('#{self.id} .cell-codemirror, #{self.id} .cell-plain')")

    def write(self, code: str) -> None:
        """Put code into the editor as a reader would: select all, paste."""
        self.open()
        self.page.keyboard.press("ControlOrMeta+a")
        self.page.evaluate("(text) => navigator.clipboard.writeText(text)", code)
        self.page.keyboard.press("ControlOrMeta+v")
        until(self.page, f"{self.find('')}.dataset.origin !== 'page'", "the edit is there")

    def code(self) -> str:
        """The code that stands in the cell."""
        plain = self.find(".cell-code code")
        lines = f"{self.find('.cell-codemirror')}?.shadowRoot.querySelectorAll('.cm-line')"
        shown = f"{self.find('.cell-code pre')}.hidden"
        return str(
            self.page.evaluate(
                f"{shown} ? [...{lines}].map((line) => line.textContent).join('\\n') : {plain}.textContent"
            )
        )

    def ended(self) -> None:
        until(self.page, f"!{self.find('')}.hasAttribute('data-running')", "the run has ended")

    def run(self, code: str | None = None) -> str:
        """Run the code, or what stands there, to its end; what is shown then."""
        if code is not None:
            self.write(code)
        self.press("run")
        self.ended()
        return self.text("output")

    def pieces(self) -> list[list[str]]:
        """Kind and text of what was printed, in order."""
        found = f"[...{self.find('.cell-output')}.children].map((one) => [one.dataset.kind, one.textContent])"
        return list(self.page.evaluate(found))
