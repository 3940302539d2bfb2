/** The code editor, made from live/editor/ by tools/editor.py; loaded when somebody edits. */
export interface Editor {
  readonly element: HTMLElement;
  /** Put another text in, as one step that can be undone. */
  write(text: string): void;
  focus(): void;
}
export interface EditorSettings {
  text: string;
  /** What a screen reader says of it. */
  label: string;
  onChange: (text: string) => void;
  onRun: () => void;
}
export function createEditor(settings: EditorSettings): Editor;
