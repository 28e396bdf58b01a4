package hosts

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/urfave/cli/v2"

	"deployster/internal/app"
	"deployster/internal/app/hosts"
	"deployster/internal/runtime/remote"
	"deployster/internal/runtime/remote/router"
	"deployster/internal/ui/terminal"
	"deployster/protocol"
)

// A clock that differs by more than a minute is told, in which direction ever; nothing
// else of a host depends on it.
func TestPrint_Clock(t *testing.T) {
	t.Parallel()
	for slow, want := range map[time.Duration]string{0: "", 59 * time.Second: "", 61 * time.Second: "by 1m1s", -2 * time.Hour: "by -2h0m0s"} {
		var out bytes.Buffer
		found := []app.HostCheck{{Name: "web", Pin: router.Pin{Address: "10.0.0.5", Machine: "m1", Facts: &protocol.HostFacts{Hostname: "w"}}, Condition: hosts.Condition{Slow: slow}}}
		if err := Print(terminal.Printer{Out: &out}, found, false); err != nil {
			t.Fatal(err)
		}
		told := strings.Contains(out.String(), "its clock differs from this one's")
		if !strings.HasPrefix(out.String(), "web (10.0.0.5) ok: w") || told != (want != "") || !strings.Contains(out.String(), want) {
			t.Errorf("%s behind: %q", slow, out.String())
		}
	}
}

// What a host has for images is told, and where it is too little.
func TestPrint_Room(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		has        hosts.Condition
		says, warn string
	}{
		{hosts.Condition{Runc: "1.4.3", Free: 3 << 30}, ", runc 1.4.3, 3.0 GiB free on disk\n", ""},
		{hosts.Condition{Free: 2 << 30, Printed: "hello"}, "2.0 GiB free on disk\n  its login prints: hello\n", ""},
		{hosts.Condition{Free: 1 << 30}, "8.0 GiB, 1.0 GiB free on disk\n", ""},
		{hosts.Condition{Runc: "1.4.3", Free: 1<<30 - 1<<20}, ", runc 1.4.3, 1023.0 MiB free on disk\n", "has only 1023.0 MiB free: an image with its files may need 1.0 GiB"},
		{hosts.Condition{Runc: "1\x1b[2J"}, `, runc 1\x1b[2J, 0 B free on disk`, "has only 0 B free"},
	} {
		var out bytes.Buffer
		found := []app.HostCheck{{Name: "web", Pin: router.Pin{Facts: &protocol.HostFacts{Memory: 8 << 30}}, Condition: c.has}}
		if err := Print(terminal.Printer{Out: &out}, found, false); err != nil {
			t.Fatal(err)
		}
		if got := out.String(); !strings.Contains(got, c.says) || !strings.Contains(got, c.warn) || strings.Contains(got, "only") != (c.warn != "") {
			t.Errorf("%+v: %q", c.has, got)
		}
	}
}

// What the help says of 0 is so.
func TestFlags_Least(t *testing.T) {
	t.Parallel()
	for arg, refused := range map[string]bool{"-max-failed-hosts=0": false, "-max-failed-hosts=-1": true, "-hosts=1": false, "-hosts=0": true} {
		a := cli.NewApp()
		a.Flags, a.Action = []cli.Flag{AtOnceFlag(), MaxFailedFlag()}, func(*cli.Context) error { return nil }
		a.Writer, a.ErrWriter, a.HideHelp, a.HideVersion = io.Discard, io.Discard, true, true // these flags are shared by all
		if err := a.Run([]string{"deployster", arg}); (err != nil) != refused {
			t.Errorf("%s: %v", arg, err)
		}
	}
}

func TestFlags_OfWaves(t *testing.T) {
	t.Parallel()
	for arg, want := range map[string]string{
		"-hosts=1":             "1 [{1 false}] 0s ",
		"-hosts=1,10%,50%":     "64 [{1 false} {10 true} {50 true}] 0s ",
		"-hosts=1,200":         "200 [{1 false} {200 false}] 0s ",
		"-hosts=0":             "",
		"-hosts=0%":            "",
		"-hosts=101%":          "",
		"-hosts=1,,2":          "",
		"-hosts=":              "",
		"-soak=5m":             "64 [] 5m0s ",
		"-soak=-5m":            "",
		"-hosts-by=zone":       "64 [] 0s zone",
		"-max-failed-hosts=-1": "",
	} {
		got := ""
		a := cli.NewApp()
		a.Flags, a.Action = WaveFlags(), func(c *cli.Context) error {
			o := WavesOf(c)
			got = fmt.Sprintf("%d %v %s %s", o.AtOnce, o.Waves.Sizes, o.Waves.Soak, o.Waves.By)
			return nil
		}
		a.Writer, a.ErrWriter, a.HideHelp, a.HideVersion = io.Discard, io.Discard, true, true // these flags are shared by all
		if err := a.Run([]string{"deployster", arg}); (err != nil) != (want == "") || got != want {
			t.Errorf("%s: %q, %v; want %q", arg, got, err, want)
		}
	}
}

// A cluster is described by what it reports, and its ended Pods are counted.
func TestPrint_Clusters(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		ended, pruned int
		want          string
	}{
		{0, 0, ""},
		{1, 0, "  1 Pod of an earlier command has ended and can be removed: deployster host check -prune jobs\n"},
		{1200, 0, "  1,200 Pods of earlier commands have ended and can be removed: deployster host check -prune jobs\n"},
		{2, 2, "  Removed 2 Pods of earlier commands\n"},
	} {
		var out bytes.Buffer
		found := []app.HostCheck{{Name: "jobs", Pin: router.Pin{Address: "prod/deployster", Facts: &protocol.HostFacts{}},
			Cluster: &remote.Found{Facts: []string{"kubernetes v1.37.2", "agent 1"}, Notes: []string{"Pods may be created and exec'd", "events may not be read"},
				Ended: c.ended, Pruned: c.pruned}}}
		if err := Print(terminal.Printer{Out: &out}, found, false); err != nil {
			t.Fatal(err)
		}
		want := "jobs (prod/deployster) ok: kubernetes v1.37.2, agent 1\n  Pods may be created and exec'd; events may not be read\n" + c.want
		if out.String() != want {
			t.Errorf("got %s\nwant %s", out.String(), want)
		}
		if n := Prunable(found); n != c.ended {
			t.Errorf("%d Pods, want %d", n, c.ended)
		}
	}
}

func TestConfirmPrune_NeedsApproval(t *testing.T) {
	t.Parallel()
	answer := func(yes bool) func(context.Context, string, bool) (bool, error) {
		return func(_ context.Context, question string, _ bool) (bool, error) {
			if question != "Remove 2 Pods that ended, also of other states?" {
				t.Errorf("the question is %q", question)
			}
			return yes, nil
		}
	}
	if err := ConfirmPrune(t.Context(), 2, answer(true)); err != nil {
		t.Error(err)
	}
	if ConfirmPrune(t.Context(), 2, answer(false)) == nil || ConfirmPrune(t.Context(), 2, nil) == nil {
		t.Error("it removes Pods without an approval")
	}
}
