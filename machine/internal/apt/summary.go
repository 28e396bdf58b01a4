package apt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"deployster/machine/internal/access"
)

// summarized returns what an apt-get with these arguments would do, from the summary that it prints with the addresses of
// the archives: it takes apt half the time of a simulation, which also puts all packages in an order. ok is false where the
// summary does not have everything, as of what is removed, or where apt refuses.
func summarized(ctx context.Context, m *access.Machine, args ...string) (t transaction, ok bool, err error) {
	if !slices.Contains(args, "install") || slices.Contains(args, "--reinstall") {
		return nil, false, nil
	}
	var out bytes.Buffer
	all := append([]string{"apt-get", "-q", "-y", "-V", "--print-uris", "-o", unkept, "-o", "Debug::NoLocking=1"}, args...)
	err = m.Run(ctx, access.Command{Args: all, Env: quiet, Stdout: &out, Stderr: &bytes.Buffer{}})
	if exit, is := errors.AsType[*access.ExitError](err); is && exit.Code > 0 {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	t, ok = parseSummary(out.String())
	return t, ok, nil
}

// summaryLists are the headings of the packages that get a version.
var summaryLists = []string{"The following NEW packages will be installed:", "The following packages will be upgraded:",
	"The following packages will be DOWNGRADED:"}

// parseSummary reads the lists of a summary, if they have as many packages as the line that counts them, and none is removed:
//
//	The following NEW packages will be installed:
//	   nginx-common (1.22.1-9)
//	The following packages will be upgraded:
//	   nginx (1.18.0-6 => 1.22.1-9)
//	1 upgraded, 1 newly installed, 0 to remove and 3 not upgraded.
func parseSummary(text string) (t transaction, ok bool) {
	reads := false
	for line := range strings.Lines(text) {
		entry, listed := strings.CutPrefix(strings.TrimRight(line, "\n"), "   ")
		if !listed {
			reads = slices.Contains(summaryLists, entry)
			if total, is := summaryTotal(entry); is {
				return t, total == len(t)
			}
			continue
		}
		name, versions, versioned := strings.Cut(strings.TrimSuffix(entry, ")"), " (")
		switch from, to, changes := strings.Cut(versions, " => "); {
		case !reads:
		case !versioned:
			return nil, false
		case changes:
			t = append(t, step{name: name, from: from, to: to})
		default:
			t = append(t, step{name: name, to: versions})
		}
	}
	return nil, false
}

// summaryTotal reads the line that counts the packages of a summary. Where some are removed or installed again, no line matches.
func summaryTotal(line string) (total int, ok bool) {
	for _, format := range []string{"%d upgraded, %d newly installed, 0 to remove and ",
		"%d upgraded, %d newly installed, %d downgraded, 0 to remove and "} {
		var n [3]int
		into := []any{&n[0], &n[1], &n[2]}[:strings.Count(format, "%d")]
		if _, err := fmt.Sscanf(line, format, into...); err == nil {
			return n[0] + n[1] + n[2], true
		}
	}
	return 0, false
}
