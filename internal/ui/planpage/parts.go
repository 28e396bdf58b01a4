package planpage

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"deployster/internal/ui/jsondiff"
)

// side is the column beside the resources: the modules, and the parts of the
// page.
func (v *view) side() {
	w := v.w
	w.put(html("<nav id=\"_side\" aria-label=\"Parts and modules\">\n<ul>\n<li><a href=\"#_summary\">Summary</a></li>\n"))
	if len(v.plan.Edges) > 0 {
		w.put(html("<li><a href=\"#_graph\">Dependencies</a></li>\n"))
	}
	w.put(html("<li><a href=\"#_changes\">Changes</a></li>\n"))
	if len(v.quiet) > 0 {
		w.put(html("<li><a href=\"#_quiet\">As declared</a></li>\n"))
	}
	if len(v.plan.Outputs) > 0 {
		w.put(html("<li><a href=\"#_outputs\">Outputs</a></li>\n"))
	}
	if len(v.plan.Variables) > 0 {
		w.put(html("<li><a href=\"#_variables\">Variables</a></li>\n"))
	}
	w.put(html("</ul>\n"))
	if root := v.modules(); len(root.inside) > 0 {
		w.put(html("<details id=\"_tree\" open><summary><h2>Modules</h2></summary>\n<ul id=\"_modules\">\n"))
		v.module(root)
		w.put(html("</ul>\n</details>\n"))
	}
	w.put(html("</nav>\n"))
}

// module is a module with what is in it.
type module struct {
	path, name string
	inside     []*module
	changes    int    // resources to which something happens, with those further inside
	all        int    // all resources
	first      string // the address of one
}

// maxModules is how many modules are listed.
const maxModules = 1000

// modules gives the tree of modules, in the order of their names.
func (v *view) modules() *module {
	root := &module{name: "(root)"}
	known, addrs := map[string]*module{"": root}, slices.Sorted(maps.Keys(v.plan.Resources))
	for _, addr := range addrs {
		group, _ := SplitModules(addr)
		at, line := root, []*module{root}
		for i := range group {
			path := strings.Join(group[:i+1], ".")
			if known[path] == nil {
				if len(known) > maxModules {
					break
				}
				known[path] = &module{path: path, name: strings.TrimPrefix(group[i], "module.")}
				at.inside = append(at.inside, known[path])
			}
			at = known[path]
			line = append(line, at)
		}
		for _, m := range line {
			if m.all++; m.first == "" {
				m.first = addr
			}
			if !quiet(v.plan.Resources[addr]) {
				m.changes++
			}
		}
	}
	return root
}

func (v *view) module(m *module) {
	w := v.w
	w.put(html(`<li><a data-module="`), m.path, html(`" href="`), v.link(m.first), html(`">`), m.name, html(` <span class="dim">`))
	if m.changes > 0 {
		w.put(html(`<b>`), thousands(m.changes), html(`</b> of `))
	}
	w.put(thousands(m.all), html(`</span></a>`))
	if len(m.inside) > 0 {
		w.put(html("\n<ul>\n"))
		for _, inner := range m.inside {
			v.module(inner)
		}
		w.put(html("</ul>\n"))
	}
	w.put(html("</li>\n"))
}

// outputs writes what the outputs are expected to be.
func (v *view) outputs() {
	if len(v.plan.Outputs) == 0 {
		return
	}
	w := v.w
	w.put(html("<section id=\"_outputs\"><h2>Outputs</h2>\n<table class=\"diff\"><tbody>\n"))
	for _, name := range slices.Sorted(maps.Keys(v.plan.Outputs)) {
		o := v.plan.Outputs[name]
		value := jsondiff.Value{JSON: o.Value, Unknown: o.Unknown}
		if o.Sensitive {
			value.Sensitive = []string{""}
		}
		row := jsondiff.Row{Op: jsondiff.Same, Path: name}
		if len(o.Value) > 0 {
			row.Want = jsondiff.TextWithin(value, 8, v.most, w.hide)
		}
		switch {
		case o.Removed:
			row.Op, row.Want = jsondiff.Remove, "(declared no more)"
		case o.Changed:
			row.Op = jsondiff.Change
		}
		v.value(row)
	}
	w.put(html("</tbody></table></section>\n"))
}

// variables writes what the manifests were evaluated with.
func (v *view) variables() {
	if len(v.plan.Variables) == 0 {
		return
	}
	w := v.w
	w.put(html("<details id=\"_variables\"><summary><h2>Variables</h2></summary>\n<table class=\"diff\"><tbody>\n"))
	for _, name := range slices.Sorted(maps.Keys(v.plan.Variables)) {
		var pinned struct{ Value json.RawMessage }
		text := ""
		if slices.Contains(v.plan.SensitiveVariables, name) {
			text = jsondiff.TextWithin(jsondiff.Value{JSON: []byte("null"), Sensitive: []string{""}}, 8, v.most, w.hide)
		} else if err := json.Unmarshal(v.plan.Variables[name], &pinned); err == nil && len(pinned.Value) > 0 {
			text = jsondiff.TextWithin(jsondiff.Value{JSON: pinned.Value}, 8, v.most, w.hide)
		}
		v.value(jsondiff.Row{Op: jsondiff.Same, Path: name, Want: text})
	}
	w.put(html("</tbody></table></details>\n"))
}

// value writes a name with its value.
func (v *view) value(r jsondiff.Row) {
	w, class, sign := v.w, html("same"), html("")
	switch r.Op {
	case jsondiff.Change:
		class, sign = "change", "~"
	case jsondiff.Remove:
		class, sign = "remove", "−"
	}
	w.put(html(`<tr class="`), class, html(`"><th scope="row"><span class="op" aria-hidden="true">`), sign, html(`</span>`), r.Path, html(`</th><td><span class="val">`), dedent(r.Want), html("</span></td></tr>\n"))
}
