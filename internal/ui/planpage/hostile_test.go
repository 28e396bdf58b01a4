package planpage

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/runtime/artifact"
	"deployster/internal/runtime/runner"
	"deployster/plan"
	"deployster/plan/artifacts"
	"deployster/plan/change"
	"deployster/plan/reason"
	"deployster/protocol"
)

// attacks are texts that would do something in a page that took them for more.
var attacks = []string{
	`</script><script>window.pwned=1</script>`, `<script>window.pwned=1</script>`, `"><img src=x onerror="window.pwned=1">`, `' onmouseover='window.pwned=1`, `--><svg onload=window.pwned=1>`,
	`</style><style>body{display:none}</style>`, `</title><meta http-equiv="refresh" content="0;url=http://example.org/">`, `</pre></details></main></html>`, "]]>", "&lt;b&gt;&#60;i&#62;",
	"\u2028window.pwned=1\u2029", "\u202egnp.exe\u2066", "\x00\x01\x1b[31m\x7f", "\xff\xfe\xc0\x80", "\ufeff\u200b\u200d", "javascript:window.pwned=1", "data:text/html,<script>", "{{7*7}}${7*7}", `\u003cscript\u003e`, "<base href=//example.org>",
}

// hostilePlan has them everywhere, and far more than anybody would read.
func hostilePlan() *plan.Plan {
	all := strings.Join(attacks, " ")
	long := strings.Repeat("A", 15<<20)
	p := &plan.Plan{Resources: map[string]*plan.Step{}, Variables: map[string]json.RawMessage{}, Outputs: map[string]plan.Output{}, Artifacts: map[string]artifacts.Pin{}}
	for i, text := range attacks {
		step := &plan.Step{
			Type: text, Reason: reason.New(reason.Failed, text), Source: text, OnRemove: text, Notes: []*reason.Reason{reason.New(reason.Failed, text)}, MovedFrom: "x", Ignored: []string{text},
			Config: raw(map[string]any{"text": text, text: "key", "lines": strings.Repeat(text+"\n", 9)}), Init: protocol.Type{Label: text, Digest: text},
			Settings: runner.Settings{User: "0:" + text}, Mounts: []runner.Mount{{Source: text, Target: text}}, Verify: &runner.Verify{KeyName: text},
			Part: change.New([]plan.Change{plan.Create, plan.Update, plan.Destroy, plan.Valid}[i%4]),
		}
		if i == 3 {
			step.Config = raw(map[string]any{"long": long, "list": strings.Split(strings.Repeat("x,", 100_000), ",")})
			step.Reason = reason.New(reason.Failed, long)
			step.Part = &change.Update{}
		}
		*step.Answer() = change.Answer{State: raw(map[string]any{text: text}), Stale: raw(map[string]any{"text": "x" + text, "lines": "a\nb\nc\n", text: 1}),
			Actions:  []protocol.Action{{Name: text, Description: all, Command: protocol.Command{Image: text, Entrypoint: text, Args: []string{text}}}},
			Shutdown: &protocol.Action{Name: text}, Reasons: []protocol.Reason{{Path: "/text", Message: text}, {Message: all}}}
		if i == 3 {
			a := step.Answer()
			a.State, a.Stale, a.Actions[0].Description = raw(map[string]any{"long": long}), raw(map[string]any{"long": long + "b", "list": []any{}}), long
		}
		pin := pinned(text, text, "was "+text)
		pin.Type, pin.Note, pin.Metadata = text, text, artifact.Metadata{{Name: text, Value: all}}
		p.Artifacts[text] = pin
		addr := fmt.Sprintf(`module.m[%q].web[%q]`, diag.Visible(text), diag.Visible(text))
		p.Resources[addr] = step
		p.Variables[diag.Visible(text)] = raw(map[string]any{"value": text, "type": "string"})
		p.Outputs[diag.Visible(text)] = plan.Output{Value: raw(all), Changed: true}
		p.Checks = append(p.Checks, config.CheckResult{Name: text, Status: config.CheckStatus(text), Messages: []string{text}})
	}
	// Names that are the page's own, and those that a browser gives a meaning.
	for _, addr := range []string{"top", "arrow", "body", "cookie", "location", "window", "forms", "createElement", "getElementById", "toString", "constructor", "length", "value", "defaultView"} {
		p.Resources[addr] = &plan.Step{Type: "acme/x", Config: raw(map[string]any{"__proto__": 1, "constructor": 2}),
			Part: &change.Create{Answer: change.Answer{Actions: []protocol.Action{act("a", "")}}}}
	}
	addrs := slices.Sorted(maps.Keys(p.Resources))
	for i := range addrs[1:] {
		p.Edges = append(p.Edges, plan.Edge{From: addrs[i], To: addrs[i+1], Origin: "reference"})
	}
	finish(p)
	p.Deployster, p.Workspace, p.Lineage = all, all, all
	p.Selection = plan.Selection{Targets: attacks, Excludes: attacks, Replace: attacks}
	return p
}

// hostile: whatever an image, a manifest or a state says, the page is the page.
func hostile(t *testing.T, b *browser) {
	p := hostilePlan()
	content := written(t, p)
	if len(content) > 4<<20 {
		t.Errorf("the page has %d bytes", len(content))
	}
	for _, bad := range []string{"\u2028", "\u202e", "\x00", "\x1b", "\xff", "\ufeff"} {
		if bytes.Contains(content, []byte(bad)) {
			t.Errorf("%q is on the page", bad)
		}
	}
	for name, before := range map[string]func(*tab){"with scripts": func(*tab) {}, "without": func(p *tab) { p.must("Emulation.setScriptExecutionDisabled", map[string]any{"value": true}) }} {
		page := b.open(t, file(t, content), 1280, before)
		if name == "with scripts" {
			page.until(`!document.getElementById("_controls").hidden`)
			page.press("/")
			page.typed("<script>window.pwned")
			page.until(`document.getElementById("_shown").value.includes(" of 34")`)
			page.press("Escape", "e", "e", "j")
		}
		for expression, want := range map[string]string{
			"typeof window.pwned":                        `"undefined"`,
			`document.querySelectorAll(".res").length`:   "34",
			`document.querySelectorAll("script").length`: "1",
			`document.querySelectorAll("style").length`:  "1",
			`document.querySelectorAll("img, base, iframe, link:not([rel=icon]), meta[http-equiv=refresh]").length`:             "0",
			`Array.from(document.querySelectorAll("*")).some(e => Array.from(e.attributes).some(a => a.name.startsWith("on")))`: "false",
			`Array.from(document.querySelectorAll("a")).every(a => (a.getAttribute("href") ?? "").startsWith("#"))`:             "true",
			`document.body.lastElementChild.tagName`:            `"SCRIPT"`,
			`document.querySelectorAll("main > footer").length`: "1",
			`document.body.checkVisibility()`:                   "true",
		} {
			page.want(expression, want)
		}
		page.until(`document.querySelector("main").textContent.includes("</script><script>window.pwned=1</script>")`)
		quietly(t, page)
	}
}

// secrets are hidden as show does it, and the page works whatever they are.
func secrets(t *testing.T, b *browser) {
	p := sample()
	p.Resources["www"].Reason = reason.New(reason.Failed, "the password is hunter2hunter2, and so is </span>")
	p.Resources["www"].Config = raw(map[string]any{"class": "class", "span": "details hunter2hunter2"})
	site := p.Artifacts["site"]
	site.Metadata = artifact.Metadata{{Name: "message", Value: "pushed with hunter2hunter2"}}
	p.Artifacts["site"] = site
	var out bytes.Buffer
	hide := strings.NewReplacer("hunter2hunter2", "(sensitive value)", "class", "(sensitive value)", "span", "(sensitive value)", "details", "(sensitive value)", "text", "(sensitive value)")
	if err := Write(&out, Page{Plan: p, File: "plan.bin", Hide: hide.Replace, Changes: changes}); err != nil {
		t.Fatal(err)
	}
	page := b.open(t, file(t, out.Bytes()), 1280)
	page.until(`!document.getElementById("_controls").hidden`)
	page.want(`document.querySelectorAll(".res").length`, "12")
	page.until(`document.querySelectorAll("svg text").length > 10`)
	for _, secret := range []string{"hunter2hunter2", "BEGIN PRIVATE KEY"} {
		if bytes.Contains(out.Bytes(), []byte(secret)) {
			t.Errorf("%s is on the page", secret)
		}
	}
	quietly(t, page)
}

// large is a page of more resources than are drawn or opened: it is searched.
// How long that takes with thousands of them, TestPage_Pictures measures.
func large(t *testing.T, b *browser) {
	p := b.open(t, file(t, written(t, big(1200))), 1280)
	p.until(`!document.getElementById("_controls").hidden`)
	p.press("/")
	p.typed("host-01199")
	p.want(shown, `"module.region4.module.team7.vm[\"host-01199\"]"`)
	p.press("Escape")
	p.want(`document.getElementById("_shown").value`, `"1,200 resources"`)
	p.until(`document.querySelectorAll("#_graph svg .node").length <= 150`)
	quietly(t, p)
}
