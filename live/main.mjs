// @ts-check
/** What every page loads: the elements that Python brings to life, and the small things around them. */
import { CodeCell } from "./cell_element.mjs";
import { start as startFigures } from "./figures.mjs";
import { start as startLinks } from "./links.mjs";
import { PredictQuestion } from "./question.mjs";
import { start as startTerms } from "./terms.mjs";
import { start as startTheme } from "./theme.mjs";
import { ServingWidget } from "./widget.mjs";

customElements.define("serving-widget", ServingWidget);
customElements.define("predict-question", PredictQuestion);
customElements.define("code-cell", CodeCell);
startLinks();
startFigures();
startTerms();
startTheme();
