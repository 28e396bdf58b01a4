package otherkinds

import (
	"context"
	"strings"
	"time"

	"deployster/internal/base/secret"
	"deployster/internal/runtime/conformance/recording"
	"deployster/internal/runtime/runner/answers"
	"deployster/internal/runtime/secretread"
)

const fixSecret = "Read one JSON object from stdin, with the \"config\", ignore the keys that are not known, and print {\"value\": " +
	"\"...\"}: text, with a \"version\" that changes whenever the value does, and a time as \"expires\" from which on it is read " +
	"again; both are optional. docs/secrets.md, section An image of one's own."

// Reads has an image print its secret twice, once with a key in its input that no image knows.
func (i Image) Reads(ctx context.Context) Found {
	c := secretread.New(i.Client, i.Input)
	var read [2]answers.Secret
	for n := range read {
		var err error
		ask := func() { read[n], err = c.ReadSecret(ctx, i.Target, i.Type, i.Config) }
		if n == 0 {
			ask()
		} else {
			i.Recorder.WithEdit(recording.AddKeys, ask)
		}
		if err != nil {
			return Found{Err: err, Fix: fixSecret}
		}
		i.Learn(read[n].Value)
		if read[n].Lease != nil {
			if err := returned(ctx, i, c, read[n]); err != nil {
				return Found{Err: err, Fix: fixLease}
			}
		}
	}
	f := compare(read[0], read[1], time.Now())
	for _, r := range i.Recorder.Current() {
		if f.Wrong == "" && printed(r.Result.Stderr, read[:]) {
			f.Wrong = "The value was printed on stderr, which is shown when the image fails."
		}
	}
	f.Fix = fixSecret
	return f
}

const fixLease = "With \"request\": \"renew\" renew what the \"lease\" in the input is of, and print {} or the next \"renew\" and " +
	"\"lease\"; with \"close\" give it back. docs/secrets.md, section Leases."

// returned has an image renew what it has opened, and give it back.
func returned(ctx context.Context, i Image, c secretread.Client, s answers.Secret) error {
	if !s.Renew.IsZero() {
		next, err := c.RenewSecret(ctx, i.Target, i.Type, i.Config, s.Lease)
		if err != nil {
			return err
		}
		if next.Lease != nil {
			s.Lease = next.Lease
		}
	}
	return c.CloseSecret(ctx, i.Target, i.Type, i.Config, s.Lease)
}

// compare compares what an image printed at a time in two runs with the same config.
func compare(first, again answers.Secret, now time.Time) Found {
	for _, s := range []answers.Secret{first, again} {
		if !s.Expires.IsZero() && !s.Expires.After(now) {
			return Found{Wrong: "The value has expired when it is printed: \"expires\" is " + s.Expires.Format(time.RFC3339) + "."}
		}
	}
	same, versioned := first.Value == again.Value, first.Version != "" || again.Version != ""
	switch {
	case (first.Version == "") != (again.Version == ""):
		return Found{Wrong: "One run printed a \"version\", and another one did not."}
	case versioned && first.Version == again.Version && !same:
		return Found{Wrong: "Two runs printed different values with the same \"version\": a changed value would not be noticed."}
	case versioned && first.Version != again.Version && same:
		return Found{Wrong: "Two runs printed the same value with different versions: each plan would report a rotation."}
	case !same:
		return Found{Remark: "each run prints another value: its secret block needs compare = false"}
	}
	remarks := []string{"twice alike"}
	if versioned {
		remarks = append(remarks, "with a version")
	}
	if !first.Expires.IsZero() {
		remarks = append(remarks, "it expires")
	}
	return Found{Remark: strings.Join(remarks, ", ")}
}

// printed reports whether a log has one of the values.
func printed(log []byte, read []answers.Secret) bool {
	for _, s := range read {
		if len(s.Value) >= secret.MinEmbedded && secret.NewHider([]string{s.Value}).Holds(string(log)) {
			return true
		}
	}
	return false
}
