"""A question for the tests of the page: 2 · 28 · 4 · 128 · 2 bytes are 56 KiB."""

from snippets.widgets.question import Question

QUESTIONS = (
    Question(
        name="sample_question",
        prompt="How many KiB does one token add?",
        unit="KiB",
        answer=56,
        answer_text="56 KiB",
        minimum=1,
        maximum=1000,
        mistakes=((28, "keys without values"),),
    ),
)
