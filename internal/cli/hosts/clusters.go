package hosts

import (
	"context"
	"strings"

	"deployster/internal/app"
	"deployster/internal/base/diag"
	"deployster/internal/base/words"
	"deployster/internal/ui/terminal"
)

// printCluster prints what a namespace of a cluster reports.
func printCluster(out terminal.Printer, h app.HostCheck) {
	name := diag.Visible(h.Name)
	out.Printf("%s (%s) ok: %s\n", name, h.Pin.Address, diag.Visible(strings.Join(h.Cluster.Facts, ", ")))
	if len(h.Cluster.Notes) > 0 {
		out.Printf("  %s\n", diag.Visible(strings.Join(h.Cluster.Notes, "; ")))
	}
	switch left := h.Cluster.Ended - h.Cluster.Pruned; {
	case h.Cluster.Pruned > 0:
		out.Printf("  Removed %s of earlier commands\n", words.Count(h.Cluster.Pruned, "Pod"))
	case left == 1:
		out.Printf("  1 Pod of an earlier command has ended and can be removed: deployster host check -prune %s\n", name)
	case left > 1:
		out.Printf("  %s Pods of earlier commands have ended and can be removed: deployster host check -prune %s\n",
			words.Thousands(left), name)
	}
}

// Prunable returns how many Pods of earlier commands can be removed from checked hosts.
func Prunable(found []app.HostCheck) (n int) {
	for _, h := range found {
		if h.Cluster != nil {
			n += h.Cluster.Ended
		}
	}
	return n
}

// ConfirmPrune prompts for approval to remove Pods: they may be those of other states. confirm is nil if
// there is no terminal to prompt on.
func ConfirmPrune(ctx context.Context, pods int, confirm func(ctx context.Context, question string, whole bool) (bool, error)) error {
	if confirm == nil {
		return diag.Errorf("Approval required", "-prune needs approval, and there is no terminal to prompt on. Nothing was removed. "+
			"-force removes without a prompt.")
	}
	yes, err := confirm(ctx, "Remove "+words.Count(pods, "Pod")+" that ended, also of other states?", false)
	if err == nil && !yes {
		err = diag.Errorf("Not approved", "Nothing was removed.")
	}
	return err
}
