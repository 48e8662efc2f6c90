// Browsers give no worker and no JSON to a page that was opened from the disc. There, this stands in
// for the worker of the search: the index comes as a script, which tools/docs_site/hook.py writes.
if (window.location.protocol === "file:") {
  window.Worker = function () {
    const worker = this;
    let index, documents;

    function load(names, then) {
      if (names.length === 0) return then();
      const script = document.createElement("script");
      script.src = base_url + "/search/" + names[0];
      script.onload = () => load(names.slice(1), then);
      document.head.appendChild(script);
    }

    function build() {
      const data = window.search_index;
      documents = new Map(data.docs.map((one) => [one.location, one]));
      lunr.tokenizer.separator = new RegExp(data.config.separator);
      index = lunr(function () {
        this.field("title");
        this.field("text");
        this.ref("location");
        data.docs.forEach((one) => this.add(one));
      });
      worker.onmessage({ data: { config: data.config } });
      worker.onmessage({ data: { allowSearch: true } });
    }

    function search(query) {
      return index.search(query).map((found) => {
        const one = documents.get(found.ref);
        return { ...one, summary: one.text.substring(0, 200) };
      });
    }

    worker.postMessage = function (message) {
      const shown = document.getElementById("mkdocs-search-results");
      if (message.init) shown && load(["lunr.js", "search_index.js"], build);
      else worker.onmessage({ data: { results: search(message.query) } });
    };
  };
}
