package render

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"deployster/internal/base/diag"
	"deployster/internal/base/parallel"
	"deployster/internal/base/words"
	"deployster/internal/ui/jsondiff"
	"deployster/internal/ui/paint"
	"deployster/plan"
	"deployster/state/moves"
)

// The limits of a plan with many changes on a terminal.
const (
	maxSimilar = 10  // blocks that differ in their values only; more are merged into one
	MaxBlocks  = 100 // blocks that are shown in full
	maxLines   = 200 // further blocks that are shown on one line
	maxNames   = 4   // addresses in the header of a block

	chunkSize = 1000 // resources that are previewed at a time, to bound the memory
)

// block is the display of one resource, or of several whose changes are equal or similar.
type block struct {
	addrs   []string
	step    *plan.Step      // the step of the first one
	detail  *detail         // nil = it is shown on one line
	similar bool            // the values differ: those of the first one are shown
	varies  []bool          // by row: other resources have another value
	hosts   map[string]bool // the hosts of the resources; nil = this machine
}

// shape is a set of blocks that differ in their values only.
type shape struct {
	equal  map[[sha256.Size]byte]*block
	blocks []*block
	merged *block // instead of blocks, when there are too many
	whole  bool   // blocks are never merged
}

// blocksOf folds the steps at the addresses into blocks, in the order of the first step
// of each. It merges similar steps only when there are many: a person who decides needs
// to see the values.
func blocksOf(p *plan.Plan, addrs []string, o Options) []*block {
	shapes, order := map[string]*shape{}, []*shape(nil)
	kept := 0
	for part := range slices.Chunk(addrs, chunkSize) {
		for i, l := range previews(p, part, o) {
			addr, s := part[i], p.Resources[part[i]]
			if o.Verbose {
				order = append(order, &shape{blocks: []*block{newBlock(addr, s, &l.detail)}})
				continue
			}
			sh := shapes[l.shape]
			if sh == nil {
				sh = &shape{equal: map[[sha256.Size]byte]*block{}, whole: o.Whole}
				shapes[l.shape], order = sh, append(order, sh)
			}
			if sh.add(addr, s, l.detail, o.Whole || kept < MaxBlocks+maxLines) {
				kept++
			}
		}
	}
	var out []*block
	for _, sh := range order {
		if sh.merged != nil {
			out = append(out, sh.merged)
		} else {
			out = append(out, sh.blocks...)
		}
	}
	return out
}

// preview is the display of a step; steps of the same shape may be folded.
type preview struct {
	detail detail
	shape  string
}

// previews returns the previews of the steps at the addresses, computed on all processors.
func previews(p *plan.Plan, addrs []string, o Options) []preview {
	return parallel.Map(addrs, func(addr string) (v preview) {
		s := p.Resources[addr]
		if v.detail = detailOf(s, o); !o.Verbose {
			v.shape = Block(addr) + "\x00" + v.detail.shape(s)
		}
		return v
	})
}

// add adds a step to a shape, and reports whether its detail was kept.
func (sh *shape) add(addr string, s *plan.Step, d detail, keep bool) bool {
	if sh.merged != nil {
		sh.merged.merge(addr, d)
		sh.merged.at(s.Settings.Host)
		return false
	}
	sum := d.sum()
	if same := sh.equal[sum]; same != nil {
		same.addrs = append(same.addrs, addr)
		same.at(s.Settings.Host)
		return false
	}
	b := newBlock(addr, s, nil)
	if keep || len(sh.blocks) == 0 {
		b.detail = &d
	}
	sh.equal[sum] = b
	if sh.blocks = append(sh.blocks, b); len(sh.blocks) <= maxSimilar || sh.whole {
		return b.detail != nil
	}
	sh.merged = sh.blocks[0]
	sh.merged.similar, sh.merged.varies = true, make([]bool, len(sh.merged.detail.rows))
	for _, other := range sh.blocks[1:] {
		sh.merged.joined(other)
		if other.detail == nil {
			for i := range sh.merged.varies {
				sh.merged.varies[i] = true
			}
			sh.merged.addrs = append(sh.merged.addrs, other.addrs...)
			continue
		}
		sh.merged.merge(other.addrs[0], *other.detail)
		sh.merged.addrs = append(sh.merged.addrs, other.addrs[1:]...)
	}
	sh.blocks, sh.equal = nil, nil
	return false
}

// Block returns the address of the block that an instance comes from: its address
// without keys.
func Block(addr string) string {
	if !strings.Contains(addr, "[") {
		return addr
	}
	var b strings.Builder
	for _, c := range moves.Unkeyed(addr) {
		b.WriteByte(c)
	}
	return b.String()
}

// merge adds a step whose values may differ.
func (b *block) merge(addr string, d detail) {
	b.addrs = append(b.addrs, addr)
	for i, r := range d.rows {
		if mine := b.detail.rows[i]; mine.text() != r.text() {
			b.varies[i] = true
		}
	}
}

// text returns all parts of a row that may differ.
func (r row) text() string {
	text := r.Have + "\x00" + r.Want
	for _, l := range r.Lines {
		text += "\x00" + string(l.Op) + l.Text
	}
	return text
}

// sum returns a hash that only equal details share.
func (d detail) sum() [sha256.Size]byte {
	var b strings.Builder
	d.write(&b, Options{})
	return sha256.Sum256([]byte(b.String()))
}

// shape returns a text that similar details share: the operations on the keys, and the
// actions.
func (d detail) shape(s *plan.Step) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\x00%s\x00%s\x00%s\x00%s\x00%d\x00", s.Shown(), s.Certainty, s.Type, s.Source,
		s.Init.Label+Edited(s)+place(s), len(d.rows))
	if s.MovedFrom != "" {
		b.WriteString("moved")
	} else {
		b.WriteString(Block(strings.Join(d.why, "\x00")))
	}
	for _, r := range d.rows {
		b.WriteString("\x00" + string(r.Op) + r.Path)
	}
	for _, a := range s.Answer().Actions {
		b.WriteString("\x00" + a.Name)
	}
	return b.String()
}

// write prints a block in full.
func (b *block) write(w *strings.Builder, o Options) {
	symbol, words := mark(b.step)
	if len(b.addrs) > 1 {
		words = ofMany.Replace(words)
	}
	origin := diag.Visible(b.step.Type)
	if label := b.step.Init.Label; label != "" && label != b.step.Type {
		origin = diag.Visible(b.step.Init.Label) + ", " + origin
	}
	if b.step.Source != "" {
		origin += ", " + diag.Visible(b.step.Source)
	}
	what := fmt.Sprintf("%s %s %s", symbol, b.names(o), words)
	if b.step.Change() == plan.ReadFailed && b.step.Reason != nil {
		what = fmt.Sprintf("%s %s: %s", symbol, b.names(o), oneLine(b.step.Reason.Words()))
	}
	if onlyEdited(b.step) {
		what = fmt.Sprintf("%s config of %s %s", symbol, Names(b.addrs, o.names()), Edited(b.step))
	}
	fmt.Fprintf(w, "%s  %s\n", what, paint.Dim("("+origin+")"))
	if on := b.onThem(o); on != "" {
		fmt.Fprintf(w, "    %s\n", on)
	}
	d := *b.detail
	if len(b.addrs) > 1 {
		of := reasons(b.step, true)
		d.why = slices.Concat(of, d.why[len(of):])
	}
	if b.similar {
		d = b.example(d)
	}
	d.write(w, o)
	w.WriteByte('\n')
}

// example returns d, the detail of the first of many, with a note at the values that differ.
func (b *block) example(d detail) detail {
	d.rows = append([]row(nil), d.rows...)
	others := fmt.Sprintf("and others, in %d more", len(b.addrs)-1)
	for i := range d.rows {
		if b.varies[i] {
			d.rows[i].notes = []string{others}
		}
	}
	why := fmt.Sprintf("alike, but not equal: shown is %s; -verbose shows each", diag.Visible(b.addrs[0]))
	d.why = append([]string{paint.Dim(why)}, d.why...)
	return d
}

// line returns a block in one line.
func (b *block) line() string {
	symbol, _ := mark(b.step)
	return fmt.Sprintf("%s %s  %s", symbol, Names(b.addrs, maxNames), paint.Dim(outline(b.step)))
}

// names returns the addresses of a block. A deposed resource is shown with its identity.
func (b *block) names(o Options) string {
	s := b.step
	if s.Deposed == "" || len(b.addrs) > 1 || len(s.Init.Identity) == 0 {
		return Names(b.addrs, o.names())
	}
	var was []string
	for _, pointer := range s.Init.Identity {
		value := jsondiff.At(jsondiff.Value{JSON: s.Config, Sensitive: s.Sensitive}, pointer, 0, o.Hide)
		if value != "null" { // null means the default of its schema
			was = append(was, value)
		}
	}
	return paint.Bold(diag.Visible(s.Deposed)) + " (was " + strings.Join(was, ", ") + ")"
}

// Names returns a list of addresses: the first few, and the number of the others.
func Names(addrs []string, most int) string {
	shown := make([]string, 0, min(most, len(addrs))+1)
	for i, addr := range addrs {
		if i == most && len(addrs) > most+1 {
			return strings.Join(shown, ", ") + fmt.Sprintf(" and %s more", words.Thousands(len(addrs)-most))
		}
		shown = append(shown, paint.Bold(diag.Visible(addr)))
	}
	if last := len(shown) - 1; last > 0 {
		return strings.Join(shown[:last], ", ") + " and " + shown[last]
	}
	return strings.Join(shown, ", ")
}

// outline describes a step in a few words.
func outline(s *plan.Step) string {
	var parts []string
	if s.MovedFrom != "" {
		parts = append(parts, MovedFrom(s))
	}
	switch {
	case s.Adopts() && s.Publishes:
		parts = append(parts, published)
	case s.Adopts() && s.Made():
		parts = append(parts, made)
	case s.Adopts():
		parts = append(parts, "exists already and will be adopted")
	}
	if s.DestroysAdopted() {
		parts = append(parts, notMade)
	}
	if len(s.Edited()) > 0 {
		parts = append(parts, "config "+Edited(s))
	}
	if s.Change() == plan.Update {
		if keys := changedKeys(s); keys != "" {
			parts = append(parts, keys)
		}
	}
	if len(s.Answer().Actions) > 0 {
		var names []string
		for _, a := range s.Answer().Actions {
			names = append(names, oneLine(a.Name))
		}
		parts = append(parts, words.List(names, 5))
	}
	explained := slices.Contains([]plan.Change{plan.Deferred, plan.Forget, plan.ReadFailed}, s.Change()) || s.Certainty == plan.MayChange
	if explained && s.Reason != nil {
		parts = append(parts, oneLine(s.Reason.Words()))
	}
	return strings.Join(parts, ": ")
}

// changedKeys returns the keys that an update changes.
func changedKeys(s *plan.Step) string {
	d, _ := Changes(s, nil)
	var paths []string
	for i, r := range d.Rows {
		if i == 5 {
			paths = append(paths, fmt.Sprintf("%d more", len(d.Rows)+d.More-i))
			break
		}
		paths = append(paths, r.Path)
	}
	return strings.Join(paths, ", ")
}
