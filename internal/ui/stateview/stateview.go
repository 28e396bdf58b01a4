package stateview

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"deployster/internal/base/diag"
	"deployster/internal/base/natural"
	"deployster/internal/base/words"
	"deployster/internal/ui/jsondiff"
	"deployster/internal/ui/paint"
	"deployster/internal/ui/render"
	"deployster/state"
	"deployster/state/moves"
)

// State returns the content of a state file as text.
func State(s state.Snapshot, o render.Options) string {
	var b strings.Builder
	if len(s.Resources) == 0 {
		b.WriteString("The state has no resources.\n")
	}
	addrs := natural.Sorted(maps.Keys(s.Resources))
	width := 0
	for _, addr := range addrs {
		width = max(width, min(40, paint.Width(diag.Visible(addr))))
	}
	for i, addr := range addrs {
		entry := s.Resources[addr]
		if o.Compact {
			on := render.OnHost(entry.Settings.Host)
			if on != "" {
				on += "  "
			}
			fmt.Fprintf(&b, "%s  %s%s\n", paint.Fill(paint.Bold(diag.Visible(addr)), width), on, paint.Dim(about(entry)))
			continue
		}
		if i == 3*render.MaxBlocks && !o.All() {
			fmt.Fprintf(&b, "\nand %s more. -compact shows each in a line, -verbose in full, `deployster state show ADDRESS` one.\n",
				words.Thousands(len(addrs)-i))
			break
		}
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(Entry(addr, entry, o))
	}
	b.WriteString(Outputs(s, o))
	return b.String()
}

// Entry returns the entry of one resource as text.
func Entry(addr string, entry state.Entry, o render.Options) string {
	var b strings.Builder
	head := fmt.Sprintf("%s  %s", paint.Bold(diag.Visible(addr)), paint.Dim("("+about(entry)+")"))
	b.WriteString(paint.Wrap(head, o.Width) + "\n")
	if on := render.OnHost(entry.Settings.Host); on != "" {
		fmt.Fprintf(&b, "  %s\n", on)
	}
	if _, number := moves.RecordedAt(addr); number > 0 {
		fmt.Fprintf(&b, "  %s\n", paint.Yellow("another resource has its address; it is still to be destroyed"))
	}
	if len(entry.Dependencies) > 0 {
		fmt.Fprintf(&b, "  depends on %s\n", diag.Visible(render.JoinNames(entry.Dependencies, o)))
	}
	if entry.Incomplete() {
		fmt.Fprintf(&b, "  %s\n", paint.Yellow("an apply began to create it and did not finish: a part of it may exist"))
		return b.String()
	}
	if entry.Dirty {
		fmt.Fprintf(&b, "  %s\n", paint.Yellow("an action was started on it since, and its state was not read after that"))
	}
	if f := entry.LastSeen; f != nil {
		fmt.Fprintf(&b, "  %s %s\n", paint.Yellow("found different at "+f.At.Format(time.RFC3339)+":"),
			jsondiff.TextWithin(jsondiff.Value{JSON: f.State, Sensitive: f.Sensitive}, 2, render.MaxPage, o.Hide))
	}
	fmt.Fprintf(&b, "  state = %s\n", jsondiff.TextWithin(jsondiff.Value{JSON: entry.State, Sensitive: entry.Sensitive.State}, 2,
		render.MaxPage,
		o.Hide))
	return b.String()
}

// about returns the type of a resource, and when it was last valid.
func about(entry state.Entry) string { return diag.Visible(entry.Type) + ", " + lastValid(entry) }

// lastValid returns when a resource was last valid.
func lastValid(entry state.Entry) string {
	if entry.Incomplete() {
		return "incomplete, never valid"
	}
	return "valid at " + entry.ValidAt.Format(time.RFC3339)
}

// Outputs returns the recorded outputs; "" when there are none.
func Outputs(s state.Snapshot, o render.Options) string {
	if len(s.Outputs) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\nOutputs:\n")
	for _, name := range slices.Sorted(maps.Keys(s.Outputs)) {
		out := s.Outputs[name]
		fmt.Fprintf(&b, "  %s = %s\n", name, Output(out, 2, o))
	}
	return b.String()
}

// Output returns the value of an output; a sensitive one is masked.
func Output(out state.Output, indent int, o render.Options) string {
	v := jsondiff.Value{JSON: out.Value}
	if out.Sensitive {
		v.Sensitive = []string{""}
	}
	return jsondiff.TextWithin(v, indent, render.MaxPage, o.Hide)
}
