package original

import (
	"regexp"
	"slices"
	"strings"

	"deployster/internal/base/diag"
	"deployster/internal/base/words"
	"deployster/internal/migrate/expressions"
)

// The keys of a manifest, of a plug and of a resource, with their types; "*" is any name.
type keys map[string]kind

var (
	ofManifest = keys{"plugs": object, "resources": object}
	ofPlug     = keys{"path": text, "read_only": boolean, "resource_names": list, "resource_types": list}
	ofResource = keys{"type": text, "readonly": boolean, "dependencies": object, "config": object}
)

func (k kind) String() string {
	return [...]string{"null", "true or false", "a whole number", "a number", "a text", "a list", "an object"}[k]
}

// valid checks a manifest as the original does, and collects its plugs and resources.
func (m *migration) valid(doc *node) bool {
	before := len(m.problems)
	m.checkKeys(doc, "a manifest", ofManifest)
	if doc.kind == object {
		for _, part := range []struct {
			name, what, required string
			keys                 keys
			known                map[string]*node
		}{{"plugs", "a plug", "path", ofPlug, m.plugs}, {"resources", "a resource", "type", ofResource, m.resources}} {
			section := doc.get(part.name)
			if section == nil {
				continue
			}
			for i, k := range section.keys {
				n := section.items[i]
				if old := part.known[k.name]; old != nil {
					m.refuse(invalid(n.file, k.line, "%s %s is in %s too", part.what[2:], diag.Visible(k.name), old.at()))
					continue
				}
				part.known[k.name] = n
				n.line = k.line
				if m.checkKeys(n, part.what, part.keys) && n.get(part.required) == nil {
					m.refuse(invalid(n.file, k.line, "%s %s has no %s", part.what[2:], diag.Visible(k.name), part.required))
				}
			}
		}
	}
	return len(m.problems) == before
}

// checkKeys checks the keys of an object, and the types of their values.
func (m *migration) checkKeys(n *node, what string, known keys) bool {
	if n.kind != object {
		m.refuse(invalid(n.file, n.line, "%s is an object, and not %s", what, n.kind))
		return false
	}
	before := len(m.problems)
	for i, k := range n.keys {
		want, ok := known[k.name]
		if !ok {
			m.refuse(invalid(n.file, k.line, "%s has no key %s%s", what, diag.Visible(k.name),
				suggestion(k.name, expressions.Sorted(known))))
			continue
		}
		got := n.items[i]
		isExpression := got.kind == text && templated(got) && want == boolean
		if got.kind != want && !isExpression {
			m.refuse(invalid(n.file, k.line, "%s is %s, and not %s", k.name, want, got.kind))
		}
		for _, item := range got.items {
			if want == list && got.kind == list && item.kind != text {
				m.refuse(invalid(n.file, item.line, "%s has texts, and not %s", k.name, item.kind))
			}
		}
	}
	return len(m.problems) == before
}

// suggestion returns the end of a sentence: the known name that is the most similar.
func suggestion(name string, known []string) string {
	if text := words.DidYouMean(name, known); text != "" {
		return "." + text
	}
	return ""
}

// refuseCycles refuses resources that depend on themselves.
func (m *migration) refuseCycles() {
	done := map[string]bool{}
	for _, name := range expressions.Sorted(m.resources) {
		if m.cycle(name, nil, done) {
			return
		}
	}
}

// cycle reports whether a resource depends on one of those on the path to it, which is an error.
func (m *migration) cycle(name string, path []string, done map[string]bool) bool {
	n := m.resources[name]
	if n == nil || done[name] {
		return false
	}
	if at := slices.Index(path, name); at >= 0 {
		m.refuse(invalid(n.file, n.line, "these resources depend on each other: %s", strings.Join(append(path[at:], name), " -> ")))
		return true
	}
	if section := n.get("dependencies"); section != nil {
		for _, on := range section.items {
			if m.cycle(on.value, append(path, name), done) {
				return true
			}
		}
	}
	done[name] = true
	return false
}

// nameResources gives the resources their names in HCL.
func (m *migration) nameResources(docs []*node) {
	taken := map[string]bool{}
	for _, doc := range docs {
		section := doc.get("resources")
		if section == nil {
			continue
		}
		for i, k := range section.keys {
			name := k.name
			if !expressions.IsName(name) {
				name = strings.TrimLeft("r_"+cleaned(name), "-")
				for taken[name] || m.resources[name] != nil {
					name += "_"
				}
				m.note(section.items[i].file, k.line, "the resource %s is called %s here, and its image gets this name",
					diag.Visible(k.name), name)
			}
			taken[name], m.names[k.name] = true, name
		}
	}
}

// manifest writes a manifest.
func (m *migration) manifest(doc *node) string {
	var out strings.Builder
	for _, part := range []struct {
		name  string
		write func(*writer, key, *node)
	}{{"plugs", m.plug}, {"resources", m.resource}} {
		section := doc.get(part.name)
		if section == nil {
			continue
		}
		for i, k := range section.keys {
			if out.Len() > 0 {
				out.WriteString("\n")
			}
			w := &writer{migration: m}
			if above := doc.comments(part.name); i == 0 && above != "" {
				w.comment(above)
				w.line("")
			}
			w.comment(k.comment)
			part.write(w, k, section.items[i])
			out.WriteString(w.String())
		}
	}
	return out.String()
}

func (m *migration) plug(w *writer, k key, n *node) {
	name := k.name
	if !expressions.IsName(name) {
		name = "p_" + cleaned(name)
		m.note(n.file, k.line, "the plug %s is called %s here", diag.Visible(k.name), name)
	}
	w.line("plug " + expressions.Quote(name).Code + " {")
	for _, attribute := range []string{"path", "read_only"} {
		if v := n.get(attribute); v != nil && v.value != "false" {
			w.attribute(attribute, v)
		}
	}
	for _, attribute := range []string{"resource_names", "resource_types"} {
		v := n.get(attribute)
		if v == nil || len(v.items) == 0 {
			continue
		}
		for _, item := range v.items {
			if _, err := regexp.Compile(item.value); err != nil && !templated(item) {
				w.unsupported(item, "this regular expression has no counterpart: "+err.Error())
			}
		}
		w.attribute(attribute, v)
	}
	w.line("}")
}

// untagged are the images that the original gives its own version as their tag.
var untagged = regexp.MustCompile(`^infolinks/deployster-[^:]+$`)

func (m *migration) resource(w *writer, k key, n *node) {
	w.line("resource " + expressions.Quote(m.names[k.name]).Code + " {")
	image := n.get("type")
	if untagged.MatchString(image.value) && !templated(image) {
		tagged := *image
		tagged.value += ":{{ " + versionVariable + " }}"
		image = &tagged
	}
	w.attribute("type", image)
	if v := n.get("readonly"); v != nil && v.value != "false" {
		w.attribute("read_only", v)
	}
	aliases := m.dependencies(w, k, n)
	if config := n.get("config"); config != nil && len(config.items) > 0 {
		w.aliases = aliases
		w.attribute("config", config)
	}
	w.line("}")
}

// dependencies writes the dependencies of a resource, and returns the names of resources by aliases.
func (m *migration) dependencies(w *writer, k key, n *node) map[string]string {
	aliases := map[string]string{}
	section := n.get("dependencies")
	if section == nil || len(section.items) == 0 {
		return aliases
	}
	w.line("dependencies = {")
	for i, alias := range section.keys {
		on := section.items[i]
		switch {
		case on.kind != text || templated(on) || !expressions.IsName(alias.name):
			m.refuse(invalid(on.file, alias.line, "a dependency has the form ALIAS: RESOURCE, with names and no expressions"))
		case m.resources[on.value] == nil:
			m.refuse(invalid(on.file, alias.line, "the resource %s depends on an unknown resource: %s%s", diag.Visible(k.name),
				diag.Visible(on.value), suggestion(on.value, expressions.Sorted(m.resources))))
		default:
			w.comment(alias.comment)
			w.line(alias.name + " = resource." + m.names[on.value])
			aliases[alias.name] = on.value
		}
	}
	w.line("}")
	if slices.Contains(expressions.Sorted(aliases), "loop") {
		m.note(section.file, section.line, "the alias loop is hidden in loops")
	}
	return aliases
}

// IsManifest reports whether a file has the keys of a manifest.
func IsManifest(f File) bool {
	doc, err := parse(f)
	if err != nil {
		return strings.Contains(string(f.Bytes), "resources:") || strings.Contains(string(f.Bytes), "plugs:")
	}
	return doc != nil && (doc.get("plugs") != nil || doc.get("resources") != nil)
}
