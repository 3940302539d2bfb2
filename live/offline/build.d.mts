/** Put above the service worker by tools/offline.py: what this build keeps. */
export {};
declare global {
  const BUILD: {
    /** Names this build. */
    id: string;
    /**
     * By path below the site's root, a page by its folder: SHA-256 as `integrity` writes it, empty for what a host may
     * write anew, and whether the name stands for this content for ever.
     */
    files: Record<string, { hash: string; lasting: boolean }>;
  };
}
