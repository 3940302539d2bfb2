// @ts-check
/** What every page loads: the elements that Python brings to life, and the small things around them. */
import { CodeCell } from "./cell_element.mjs";
import { start as startFigures } from "./figures.mjs";
import { start as startLinks } from "./links.mjs";
import { start as startOffline } from "./offline.mjs";
import { OfflineCopy } from "./offline_copy.mjs";
import { PredictQuestion } from "./question.mjs";
import { start as startTerms } from "./terms.mjs";
import { start as startTheme } from "./theme.mjs";
import { ServingWidget } from "./widget.mjs";

customElements.define("serving-widget", ServingWidget);
customElements.define("predict-question", PredictQuestion);
customElements.define("code-cell", CodeCell);
customElements.define("offline-copy", OfflineCopy);
startLinks();
startFigures();
startTerms();
startTheme();
startOffline();
