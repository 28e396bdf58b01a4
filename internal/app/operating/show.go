package operating

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"deployster/apply"
	"deployster/internal/base/diag"
	"deployster/internal/base/secret"
	"deployster/internal/base/words"
)

// approve shows what will run, and prompts.
func (r *operating) approve(ctx context.Context) error {
	for _, t := range r.tasks {
		r.command.UI.Printf("%s", t.text())
	}
	switch {
	case r.Auto:
		return nil
	case !r.Ask:
		return diag.Errorf("Approval required", "The operation needs approval, and there is no terminal to prompt on, or -input=false "+
			"forbids it. Nothing was run. Use `-auto-approve`.")
	}
	yes, err := r.command.UI.Confirm(ctx, fmt.Sprintf("Run the operation %q on %s?", r.Name, words.Count(len(r.tasks), "resource")), false)
	if err == nil && !yes {
		err = diag.Errorf("Not approved", "Nothing was run.")
	}
	return err
}

// text describes a task: what runs, where, with which input and rights.
func (t task) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: operation %q", t.addr, t.name)
	if t.operation.Label != "" {
		fmt.Fprintf(&b, " (%s)", diag.Visible(t.operation.Label))
	}
	if host := t.host(); host != "" {
		fmt.Fprintf(&b, " on %s", host)
	}
	fmt.Fprintf(&b, "\n  image:  %s (%s)\n", diag.Visible(t.entry.Type), t.step.Init.Digest)
	if input := string(secret.Mask(t.input, t.sensitive)); input != "{}" {
		fmt.Fprintf(&b, "  input:  %s\n", diag.Visible(input))
	}
	fmt.Fprintf(&b, "  rights: %s\n", strings.Join(t.rights(), "; "))
	if !t.operation.Changing() {
		b.WriteString("  It changes nothing: it takes no lock, and the state is not queried after it.\n")
	}
	return b.String()
}

// rights describes what the container of a task may do.
func (t task) rights() []string {
	rights := []string{"network " + cmp.Or(string(t.entry.Settings.Network), "host")}
	for _, m := range t.entry.Mounts {
		mode := "read-only"
		if m.Writable {
			mode = "writable"
		}
		rights = append(rights, fmt.Sprintf("%s at %s, %s", diag.Visible(m.Source), m.Target, mode))
	}
	return append(rights, t.entry.Settings.Widened()...)
}

// conclude shows how the run ended.
func (r *operating) conclude(report *apply.Report) {
	for _, t := range r.tasks {
		one := report.Resources[t.addr]
		text := string(one.Status)
		if one.Reason != "" {
			text += ": " + one.Reason
		}
		r.command.UI.Printf("%s: operation %q: %s\n", t.addr, t.name, text)
	}
}
