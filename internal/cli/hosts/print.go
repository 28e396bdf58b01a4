package hosts

import (
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"deployster/apply/turns"
	"deployster/internal/app"
	"deployster/internal/base/diag"
	"deployster/internal/base/words"
	"deployster/internal/ui/terminal"
	"deployster/plan/order"
)

// UnreachableFlag returns the flag that declares what to do with resources on hosts that cannot be reached.
func UnreachableFlag() cli.Flag {
	return &cli.StringFlag{Name: "unreachable", Value: "leave",
		Usage: "`WHAT` to do when a host cannot be reached: skip its resources (leave), or fail",
		Action: func(_ *cli.Context, what string) error {
			if what != "leave" && what != "fail" {
				return diag.Errorf("Invalid flag value", "-unreachable must be leave or fail, not %q.", diag.Visible(what))
			}
			return nil
		}}
}

// AtOnceFlag returns the flag for the number of hosts in use at a time.
func AtOnceFlag() cli.Flag {
	return number("hosts", order.Hosts, 1, "work on `N` hosts concurrently: one is finished, as far as order allows, before the next is "+
		"started")
}

// WaveFlags returns the flags of an apply for the hosts that it begins together.
func WaveFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "hosts", Value: strconv.Itoa(order.Hosts), Usage: "work on `N` hosts concurrently: one is finished, as far " +
			"as order allows, before the next is started; or in waves, such as 1,10%,50%",
			Action: func(_ *cli.Context, list string) error {
				if _, err := turns.ParseSizes(list); err != nil {
					return diag.Errorf("Invalid flag value", "-hosts: %s.", err)
				}
				return nil
			}},
		&cli.StringFlag{Name: "hosts-by", Usage: "begin the hosts with the same value of the label `KEY` together; -hosts counts " +
			"such groups, by default one"},
		&cli.DurationFlag{Name: "soak", Usage: "after each wave of hosts wait for `DURATION`, and then query its resources again",
			Action: func(_ *cli.Context, d time.Duration) error {
				if d < 0 {
					return diag.Errorf("Invalid flag value", "-soak must be at least 0s.")
				}
				return nil
			}},
		MaxFailedFlag(),
	}
}

// MaxFailedFlag returns the flag for the number of failed hosts after which no other is begun.
func MaxFailedFlag() cli.Flag {
	return number("max-failed-hosts", 0, 0, "start no further host after `N` have failed; 0: start all")
}

// OptionsOf returns the options that these flags set.
func OptionsOf(c *cli.Context) app.HostOptions {
	return app.HostOptions{FailUnreachable: c.String("unreachable") == "fail", AtOnce: c.Int("hosts")}
}

// WavesOf returns the options that these flags and those of WaveFlags set.
func WavesOf(c *cli.Context) app.HostOptions {
	o := app.HostOptions{FailUnreachable: c.String("unreachable") == "fail", MaxFailed: c.Int("max-failed-hosts"),
		Waves: turns.Waves{Soak: c.Duration("soak"), By: c.String("hosts-by")}}
	if c.IsSet("hosts") {
		o.Waves.Sizes, _ = turns.ParseSizes(c.String("hosts")) // its action has reported an error
	}
	o.AtOnce = o.Waves.AtOnce()
	return o
}

// number returns a flag for a number of hosts, with its minimum.
func number(name string, value, least int, usage string) cli.Flag {
	return &cli.IntFlag{Name: name, Value: value, Usage: usage, Action: func(_ *cli.Context, n int) error {
		if n < least {
			return diag.Errorf("Invalid flag value", "-%s must be at least %d.", name, least)
		}
		return nil
	}}
}

// leastRoom is the disk space that a first image with its extracted files may need.
const leastRoom = 1 << 30

// maxClock is the difference between the clocks that is not reported yet.
const maxClock = time.Minute

// shown is what `host check -json` prints.
type shown struct {
	Format int             `json:"format"`
	Hosts  []app.HostCheck `json:"hosts"`
}

// Print prints the results of checked hosts, for people or as JSON.
func Print(out terminal.Printer, found []app.HostCheck, json bool) error {
	if json {
		return out.Document(shown{Format: 1, Hosts: found})
	}
	for _, h := range found {
		if h.Pin.Unreachable != "" {
			out.Printf("%s (%s) cannot be used: %s\n", diag.Visible(h.Name), h.Pin.Address, h.Pin.Unreachable)
			continue
		}
		f := h.Pin.Facts
		if f == nil {
			out.Printf("%s needs values that are not recorded yet: apply them first\n", diag.Visible(h.Name))
			continue
		}
		if h.Cluster != nil {
			printCluster(out, h)
			continue
		}
		told := []string{f.Hostname, f.OS + " " + f.OSVersion, "kernel " + f.Kernel, f.Arch, words.Count(f.CPUs, "processor"),
			words.Bytes(f.Memory)}
		if h.Runc != "" {
			told = append(told, "runc "+h.Runc)
		}
		told = append(told, words.Bytes(h.Free)+" free on disk")
		out.Printf("%s (%s) ok: %s\n", diag.Visible(h.Name), h.Pin.Address, diag.Visible(strings.Join(told, ", ")))
		if h.Free < leastRoom {
			out.Printf("  the disk of its data directory has only %s free: an image with its files may need %s. Free space there\n",
				words.Bytes(h.Free), words.Bytes(leastRoom))
		}
		if h.Slow.Abs() > maxClock {
			out.Printf("  its clock differs from this one's by %s\n", h.Slow.Round(time.Second))
		}
		if h.Printed != "" {
			out.Printf("  its login prints: %s\n", h.Printed)
		}
	}
	return nil
}
