import { start as startTerms } from "./terms.mjs";

startTerms();
