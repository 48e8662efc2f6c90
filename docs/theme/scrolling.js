// Tables and pictures that scroll can be reached with the keyboard; the theme makes frames of tables after loading.
new MutationObserver(() => {
  const frames = ".md-typeset__scrollwrap:not([tabindex]), .md-typeset p:not([tabindex]):has(> img)";
  for (const frame of document.querySelectorAll(frames)) frame.tabIndex = 0;
}).observe(document.documentElement, { childList: true, subtree: true });
