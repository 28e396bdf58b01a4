package planpage

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// file writes a page where a browser can open it.
func file(t *testing.T, content []byte) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "plan.html")
	if err := os.WriteFile(name, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return "file://" + name
}

func dark(p *tab) {
	p.must("Emulation.setEmulatedMedia", map[string]any{"features": []any{map[string]any{"name": "prefers-color-scheme", "value": "dark"}}})
}

// What a person sees of the resources, and where the focus is.
const (
	shown   = `Array.from(document.querySelectorAll(".res")).filter(r => r.checkVisibility()).map(r => r.id).join(" ")`
	focused = `document.activeElement.closest(".res")?.id ?? document.activeElement.id`
)

// TestPage_InBrowser uses the page as people do, in a real browser.
func TestPage_InBrowser(t *testing.T) {
	t.Parallel()
	b := startBrowser(t)
	for _, part := range []struct {
		name string
		use  func(*testing.T, *browser)
	}{{"search", searches}, {"filters", filters}, {"keys", keys}, {"links", links}, {"without scripts", withoutScripts}, {"accessible", accessible},
		{"hostile", hostile}, {"secrets", secrets}, {"large", large}, {"themes", themes}} {
		t.Run(part.name, func(t *testing.T) { part.use(t, b) })
	}
}

// quietly fails when the console or the network had anything to say.
func quietly(t *testing.T, p *tab) {
	t.Helper()
	for _, c := range p.complaints() {
		t.Error(c)
	}
}

func searches(t *testing.T, b *browser) {
	p := b.open(t, file(t, written(t, sample())), 1280)
	p.until(`!document.getElementById("_controls").hidden`)
	p.press("/")
	p.want(focused, `"_search"`)
	for text, want := range map[string]string{
		"old_d":             `"old_disk"`,                    // an address
		"ACME/CERT":         `"module.site.module.tls.cert"`, // a type
		"worker_processes":  `"module.site.conf[\"nginx\"]"`, // a value
		"by hand on friday": `"disk"`,                        // what an image says
		"acme/disk gold":    `"disk"`,                        // words in different places
		"10.0.0.0/16":       `"network"`,                     // in one that is as declared, and so folded away
	} {
		p.eval(`document.getElementById("_search").value = ""`)
		p.typed(text)
		p.want(shown, want)
		p.want(`document.getElementById("_shown").value`, `"1 of 12"`)
	}
	p.eval(`document.getElementById("_search").select()`)
	p.typed("nothing of the kind")
	p.want(shown, `""`)
	p.want(`document.getElementById("_none").checkVisibility()`, "true")
	p.press("Escape")
	p.want(`document.querySelectorAll(".res:not([hidden])").length`, "12")
	p.want(`document.getElementById("_quiet").open`, "false")
	quietly(t, p)
}

func filters(t *testing.T, b *browser) {
	p := b.open(t, file(t, written(t, sample())), 1280)
	p.until(`document.querySelector("#_kinds button")`)
	click := func(selector string) { p.eval(`document.querySelector('` + selector + `').click()`) }
	click(`#_kinds [data-k="destroy"] button`)
	p.want(shown, `"old_disk"`)
	click(`#_kinds [data-k="create"] button`)
	p.want(shown, `"module.site.module.tls.cert www old_disk"`)
	p.want(`document.querySelector('[data-k="create"] button').ariaPressed`, `"true"`)
	click(`#_kinds [data-k="destroy"] button`)
	p.want(shown, `"module.site.module.tls.cert www"`)
	p.press("Escape")
	click(`#_kinds [data-k="adopt"] button`)
	p.want(shown, `"metrics"`)
	p.press("Escape")
	click(`#_kinds [data-f="drifted"] button`)
	p.want(shown, `"disk"`)
	p.press("Escape")
	click(`#_modules [data-module="module.site"]`)
	p.want(shown, `"module.site.module.tls.cert module.site.conf[\"nginx\"]"`)
	click(`#_modules [data-module="module.site.module.tls"]`)
	p.want(shown, `"module.site.module.tls.cert"`)
	p.press("Escape")
	p.want(`document.querySelectorAll(".res:not([hidden])").length`, "12")
	quietly(t, p)
}

func keys(t *testing.T, b *browser) {
	p := b.open(t, file(t, written(t, sample())), 1280)
	p.until(`!document.getElementById("_controls").hidden`)
	p.press("j")
	p.want(focused, `"greeting"`)
	p.press("j", "j", "j", "j", "k")
	p.want(focused, `"module.site.module.tls.cert"`)
	p.press("Enter")
	p.want(`document.getElementById("module.site.module.tls.cert").open`, "false")
	p.press("Enter")
	p.want(`document.getElementById("module.site.module.tls.cert").open`, "true")
	p.press("e")
	p.want(`document.querySelectorAll("#_changes .res[open]").length`, "0")
	p.press("e")
	p.want(`document.querySelectorAll("#_changes .res[open]").length`, "11")
	p.press("?")
	p.want(`document.getElementById("_keys").open`, "true")
	p.press("Escape")
	p.want(`document.getElementById("_keys").open`, "false")
	p.press("/")
	p.press("j", "k", "/", "?") // in the search they are letters
	p.want(`document.getElementById("_search").value`, `"jk/?"`)
	p.eval(`document.getElementById("_search").select()`)
	p.typed("scratch")
	p.press("Enter") // to what was found
	p.want(focused, `"old_disk"`)
	quietly(t, p)
}

func themes(t *testing.T, b *browser) {
	const background = `getComputedStyle(document.body).backgroundColor`
	const light, black = `"rgb(255, 255, 255)"`, `"rgb(13, 17, 23)"`
	page := file(t, written(t, sample()))
	p := b.open(t, page, 1280)
	p.want(background, light)
	p.press("t", "t")
	p.want(background, black)
	p.must("Page.reload", nil) // it is remembered
	p.want(background, black)
	p.until(`document.readyState === "complete" && document.getElementById("_themeName").textContent === "dark"`)
	p.press("t")
	p.want(background, light)
	p = b.open(t, page, 390, dark)
	p.want(background, black)
	p.press("t")
	p.want(background, light)
	p.press("t", "t")
	p.want(`document.documentElement.scrollWidth <= 390`, "true") // nothing stands out on a telephone
	p.must("Emulation.setEmulatedMedia", map[string]any{"media": "print"})
	p.want(`document.getElementById("_bar").checkVisibility()`, "false")
	quietly(t, p)
}

func links(t *testing.T, b *browser) {
	page := file(t, written(t, sample()))
	p := b.open(t, page+`#module.site.conf%5B%22nginx%22%5D`, 1280)
	p.want(focused, `"module.site.conf[\"nginx\"]"`)
	p = b.open(t, page+"#metrics", 1280) // in what is folded away
	p.want(focused, `"metrics"`)
	p.want(`document.getElementById("metrics").open && document.getElementById("metrics").checkVisibility()`, "true")
	p.press("/")
	p.typed("old_disk")
	p.want(shown, `"old_disk"`)
	p.eval(`location.hash = "#disk"`) // to one that the search hides
	p.want(focused, `"disk"`)
	for _, from := range []string{`#disk .near a`, `.graph a`} { // every link leads to a resource
		p.want(`Array.from(document.querySelectorAll('`+from+`')).filter(a => !document.getElementById(decodeURIComponent(a.hash ? a.hash.slice(1) : a.href.baseVal.slice(1)))).length`, "0")
		p.until(`document.querySelectorAll('` + from + `').length > 1`)
	}
	quietly(t, p)
}

func withoutScripts(t *testing.T, b *browser) {
	p := b.open(t, file(t, written(t, sample())), 1280, func(p *tab) { p.must("Emulation.setScriptExecutionDisabled", map[string]any{"value": true}) })
	p.want(`document.getElementById("_controls").checkVisibility()`, "false")
	p.want(shown, `"greeting legacy metrics module.site.module.tls.cert service disk module.site.conf[\"nginx\"] www dns index old_disk"`)
	for _, text := range []string{"Grow the disk by 200 GB", "listen 443 ssl", "Because it is no longer declared", "moved from hello (same /path)", "its type finds nothing to do", "is expected to update it"} {
		p.until(`document.querySelector("#_changes").textContent.includes("` + text + `")`)
	}
	p.want(`Array.from(document.querySelectorAll("#_artifacts tr")).map(r => r.innerText.replace(/\s+/g, " ").replace("→", "->").trim()).join("; ")`,
		`"base 1.1.0 new acme/git:1; lib 2.0 acme/git:1; `+
			`site a1b2c3d -> c3d4e5f acme/git:1 space main, 3 newer; message \"Fix the header\", author ann"`)
	p.want(`Array.from(document.querySelectorAll("#_hosts tr")).map(r => r.className + " " + r.innerText.replace(/\s+/g, " ").trim()).join("; ")`,
		`"valid new known after apply 0 changes of 0 resources; `+
			`update web[\"a\"] deploy@10.0.0.5 2 changes of 2 resources, web-a, debian 13, amd64, 4 processors, 8.0 GiB; `+
			`warn web[\"b\"] deploy@10.0.0.6 It is unreachable: ssh: connect to host 10.0.0.6 port 22: No route to host. `+
			`Its resources and their dependants are skipped."`)
	quietly(t, p)
}

// contrast gives the texts that are hard to read: below the 4.5 of WCAG AA.
const contrast = `(() => {
  const rgb = (c) => { const n = c.match(/[\d.]+/g).map(Number); return c.startsWith("color(srgb") ? [n[0]*255, n[1]*255, n[2]*255, n[3] ?? 1] : [n[0], n[1], n[2], n[3] ?? 1]; };
  const light = (c) => { const [r, g, b] = c.map((v) => { v /= 255; return v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4; }); return .2126*r + .7152*g + .0722*b; };
  const ground = (e) => { const own = rgb(getComputedStyle(e).backgroundColor); if (own[3] > .99) return own.slice(0, 3); const under = e.parentElement ? ground(e.parentElement) : [255,255,255]; return under.map((v, i) => v*(1-own[3]) + own[i]*own[3]); };
  const bad = new Set(), walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const e = node.parentElement;
    if (!node.data.trim() || !e.checkVisibility() || e.closest("svg, script, .hear")) continue;
    const a = light(rgb(getComputedStyle(e).color)), b = light(ground(e));
    const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
    if (ratio < 4.5) bad.add(e.className + " " + e.tagName + " " + ratio.toFixed(2) + " " + node.data.slice(0, 20));
  }
  return Array.from(bad).join("; ");
})()`

func accessible(t *testing.T, b *browser) {
	page := file(t, written(t, sample()))
	for name, before := range map[string][]func(*tab){"light": nil, "dark": {dark}} {
		p := b.open(t, page, 1280, before...)
		p.until(`document.querySelector("#_kinds button")`)
		p.press("/")
		p.typed("disk") // so that what is as declared opens too
		p.want(contrast, `""`)
		p.press("Escape")
		p.eval(`document.querySelectorAll("details").forEach(d => d.open = true); document.querySelector("#_kinds button").click(); document.querySelector("#_kinds button").click()`)
		if p.want(contrast, `""`); t.Failed() {
			t.Logf("that is in the %s theme", name)
		}
		p.press("j")
		p.want(`getComputedStyle(document.activeElement).outlineStyle`, `"solid"`) // the focus is seen
		for what, count := range map[string]string{"header": "1", "main": "1", "nav[aria-label]": "1", "h1": "1", "html[lang]": "1", "h3": "12"} {
			p.want(`document.querySelectorAll('`+what+`').length`, count)
		}
		var tree struct {
			Nodes []struct {
				Ignored    bool
				Role, Name struct{ Value any }
			}
		}
		p.must("Accessibility.enable", nil)
		p.into(&tree, "Accessibility.getFullAXTree", nil)
		named := 0
		for _, n := range tree.Nodes {
			role, _ := n.Role.Value.(string)
			if n.Ignored || !strings.Contains(" button searchbox link heading DisclosureTriangle dialog ", " "+role+" ") {
				continue
			}
			if named++; n.Name.Value == nil || n.Name.Value == "" {
				t.Errorf("a %s has no name", role)
			}
		}
		if named < 50 {
			t.Errorf("only %d parts of the page were looked at", named)
		}
		quietly(t, p)
	}
}
