// Tables that scroll can be reached with the keyboard; the theme makes their frames after loading.
new MutationObserver(() => {
  for (const frame of document.querySelectorAll(".md-typeset__scrollwrap:not([tabindex])")) frame.tabIndex = 0;
}).observe(document.documentElement, { childList: true, subtree: true });
