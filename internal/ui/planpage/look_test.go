package planpage

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var look = flag.String("look", "", "write pages and pictures of them into this directory, to be looked at")

// keystrokes types into the search, and says how long each key takes until
// what it has changed is drawn.
const keystrokes = `(async () => {
  const search = document.getElementById("_search"), took = [];
  for (const key of "host-0021 cpus") {
    const start = performance.now();
    search.value += key;
    search.dispatchEvent(new Event("input"));
    await new Promise((done) => setTimeout(done, WAIT));
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    took.push(Math.round(performance.now() - start));
  }
  return "first " + took[0] + " ms, then " + took.slice(1).sort((a, b) => a - b).join(" ");
})()`

// TestPage_Pictures is for people who change the page: it draws pictures of pages, and
// measures large ones.
func TestPage_Pictures(t *testing.T) {
	if *look == "" {
		return
	}
	b := startBrowser(t)
	for n, wait := range map[int]string{1000: "0", 10_000: "121"} {
		start := time.Now()
		content := written(t, big(n))
		t.Logf("%d resources: %d bytes, written in %s", n, len(content), time.Since(start))
		p := b.open(t, file(t, content), 1280)
		t.Logf("ready after %s ms, loaded after %s ms", p.eval(`Math.round(performance.getEntriesByType("navigation")[0].domContentLoadedEventEnd)`), p.eval(`Math.round(performance.getEntriesByType("navigation")[0].loadEventEnd)`))
		t.Logf("a key in the search: %s", p.eval(strings.ReplaceAll(keystrokes, "WAIT", wait)))
	}
	for name, p := range map[string][]byte{"sample": written(t, sample()), "big": written(t, big(1000))} {
		file := filepath.Join(*look, name+".html")
		if err := os.WriteFile(file, p, 0o644); err != nil {
			t.Fatal(err)
		}
		for size, width := range map[string]int{"desktop": 1280, "mobile": 390} {
			for _, scheme := range []string{"light", "dark"} {
				p := b.open(t, "file://"+file, width, func(p *tab) {
					if name == "sample" {
						p.must("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": 3600, "deviceScaleFactor": 1, "mobile": width < 600})
					}
					p.must("Emulation.setEmulatedMedia", map[string]any{"features": []any{map[string]any{"name": "prefers-color-scheme", "value": scheme}}})
				})
				p.picture(filepath.Join(*look, name+"-"+size+"-"+scheme+".png"), false)
				for _, c := range p.complaints() {
					t.Error(c)
				}
			}
		}
	}
}
