package identity

// lost finds things that are declared, were there, and were destroyed.
func (h *History) lost(when string) {
	declared, before := h.b.keys(), h.a.keys()
	for k, birth := range h.births {
		a, still := declared[k]
		t := h.w.Things[k]
		switch {
		case still && (t == nil || t.Birth != birth) && !h.replace[a] && !h.tellableKey(k):
			h.problem("a declared thing was destroyed%s", when)
		case !still && t == nil && h.foreign[k]:
			if _, managed := before[k]; !managed {
				h.problem("somebody else's thing was destroyed")
			}
		}
	}
	for a, b := range h.a {
		k := KeyOf(b.Type, a, b.Config)
		_, was := h.births[k]
		if owner := before[k]; b.ReadOnly && was && h.w.Things[k] == nil && h.a[owner].ReadOnly && h.a.onlyReadOnly(k) {
			h.problem("what was only looked at was destroyed")
		}
	}
}

// onlyReadOnly reports whether nobody manages a thing.
func (m Manifest) onlyReadOnly(k Key) bool {
	for a, b := range m {
		if !b.ReadOnly && KeyOf(b.Type, a, b.Config) == k {
			return false
		}
	}
	return true
}

// leftOver finds things that we made or managed, that are not declared any more,
// that are still there, and of which nothing was said.
func (h *History) leftOver() {
	declared, before := h.b.keys(), h.a.keys()
	for k, t := range h.w.Things {
		_, still := declared[k]
		_, was := before[k]
		if !still && (was || !t.Foreign) && !t.Foreign && !(was && !h.a.managed(k)) && !h.told[k] {
			h.problem("a thing was left, and nothing was said")
		}
	}
}

// leftThere finds things on machines that answer, which are not declared any more: what
// is recorded of them says how to get there.
func (h *History) leftThere() {
	if h.site == nil {
		return
	}
	declared, before := h.b.keys(), h.a.keys()
	for k := range h.w.Things {
		a, was := before[k]
		_, still := declared[k]
		at := h.a[a].Config.Place
		if was && !still && at != "" && h.a[a].Type == ByIdentity && h.reached[at] {
			h.problem("a thing was left on a machine that answers")
		}
	}
}

// managed reports whether somebody manages a thing, and none only looks at it.
func (m Manifest) managed(k Key) bool {
	for a, b := range m {
		if b.ReadOnly && KeyOf(b.Type, a, b.Config) == k {
			return false
		}
	}
	return true
}

// nothingToDo wants the next plan to be empty.
func (h *History) nothingToDo() {
	if rest, err := h.tool.Rest(Command{Manifest: h.b, Version: h.version, Moved: h.moved, Site: h.site}); err != nil || rest != "" {
		h.problem("the next plan is not empty")
	}
}

// tellable, see tellableKey.
func (h *History) tellable() bool {
	for k := range h.b.keys() {
		if h.tellableKey(k) {
			return true
		}
	}
	return false
}

// tellableKey reports whether a thing may be lost, because its type knows it by its
// config without saying so. Whoever changes its address and its config at once, while
// it is not as it was recorded, gives nothing by which it could be found.
func (h *History) tellableKey(k Key) bool {
	declared, before := h.b.keys(), h.a.keys()
	now, was := declared[k], before[k]
	if h.b[now].Type != ByConfig || was == "" || now == was {
		return false
	}
	return h.b[now].Config != h.a[was].Config || h.f["drift"] || h.f["fail"]
}
