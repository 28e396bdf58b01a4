package states

import (
	"time"

	"deployster/internal/app/sharedstate"
	"deployster/internal/base/diag"
	"deployster/internal/base/words"
	"deployster/internal/ui/terminal"
)

// printStatus prints the status of a state.
func printStatus(out terminal.Printer, status sharedstate.StateStatus) {
	if status.MovedTo != "" {
		out.Printf("%s has moved to %s.\n", diag.Visible(status.State), diag.Visible(status.MovedTo))
		return
	}
	if status.Lineage == "" {
		out.Printf("%s    no state yet\n", diag.Visible(status.State))
	} else {
		form := ""
		if status.Encrypted {
			form = ", encrypted"
		}
		out.Printf("%s    serial %d, lineage %s, %s, %s%s\n", diag.Visible(status.State), status.Serial, diag.Visible(status.Lineage),
			words.Count(status.Resources, "resource"), words.Bytes(status.Size), form)
	}
	printUse(out, status)
	for _, path := range status.Pending {
		out.Printf("pending    %s: the next command here that changes the state merges it\n", diag.Visible(path))
	}
}

// printUse prints who uses a state, and its actions without a recorded end.
func printUse(out terminal.Printer, status sharedstate.StateStatus) {
	switch u := status.InUse; {
	case u == nil:
		out.Printf("in use by  nobody\n")
	case u.EndedWithoutClose:
		out.Printf("in use by  nobody: %s ended without close, last answered %s ago, claim %s; the next command takes over from it\n",
			diag.Visible(u.By), max(time.Since(u.Heard), 0).Round(time.Second), diag.Visible(u.Claim))
	case u.Claim == "":
		out.Printf("in use by  %s\n", diag.Visible(u.By))
	default:
		out.Printf("in use by  %s since %s, last answered %s ago, claim %s\n", diag.Visible(u.By), u.Since.Format(time.RFC3339),
			max(time.Since(u.Heard), 0).Round(time.Second), diag.Visible(u.Claim))
	}
	what := "at work "
	if status.InUse == nil || status.InUse.EndedWithoutClose {
		what = "unknown "
	}
	for _, w := range status.AtWork {
		where := ""
		if w.Host != "" {
			where = " on " + diag.Visible(w.Host)
		}
		out.Printf("%s   %s/%s%s since %s\n", what, diag.Visible(w.Address), diag.Visible(w.Action), where, w.Since.Format(time.RFC3339))
	}
}
