package systemd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/coreos/go-systemd/v22/unit"

	"deployster/machine/internal/access"
	"deployster/machine/internal/files"
	"deployster/machine/internal/mounts"
	"deployster/machine/internal/replace"
	"deployster/protocol"
)

// SwapConfig is what a user writes about a swap file or device.
type SwapConfig struct {
	Path     string `json:"path" pattern:"^/." deployster:"identity"`
	Size     string `json:"size,omitempty" pattern:"^[1-9][0-9]*[MG]$" deployster:"computed"`
	Priority *int   `json:"priority,omitempty" minimum:"0" maximum:"32767" deployster:"computed"`
}

var swapDocs = map[string]string{
	"path": "The swap file or device.",
	"size": "The size of the file, such as 512M or 2G: it is made, and its resource owns it. Left out, it exists already, as a swap " +
		"file or device.",
	"priority": "Which is used first: that with the highest number. Left out, the kernel chooses.",
}

// SwapState is what exists.
type SwapState struct {
	Active   bool   `json:"active" doc:"whether the kernel uses it now"`
	Boot     bool   `json:"boot" doc:"whether it is used after a boot"`
	Size     string `json:"size,omitempty" doc:"the size of the file"`
	Priority *int   `json:"priority,omitempty" doc:"the priority that it has now"`

	had  had
	mode fs.FileMode
}

type swapCall = protocol.Call[SwapConfig, SwapState]

// Swap is the kind of swap files and devices.
type Swap struct {
	control
	events *events
}

// NewSwap returns the kind swap.
func NewSwap(m *access.Machine) protocol.Kind {
	return protocol.NewKind(Swap{control{m}, newEvents(m)}, protocol.About{Label: "Swap", Kind: "linux/swap", Worker: true, Unknowns: true,
		AutoEdges: []protocol.AutoEdge{{Kind: "linux/directory", By: "/path", Parents: true},
			{Kind: "linux/mount", By: "/path", Parents: true}},
		Docs: swapDocs})
}

func (c SwapConfig) unit() string { return unit.UnitNamePathEscape(c.Path) + ".swap" }

func (c SwapConfig) file() unitFile {
	var b strings.Builder
	percent := strings.ReplaceAll(c.Path, "%", "%%")
	fmt.Fprintf(&b, "[Unit]\nDescription=Swap in %s\n\n[Swap]\nWhat=%s\n", percent, percent)
	if c.Priority != nil {
		fmt.Fprintf(&b, "Priority=%d\n", *c.Priority)
	}
	b.WriteString("\n[Install]\nWantedBy=swap.target\n")
	return unitFile{unitDir + "/" + c.unit(), b.String()}
}

// Read returns the swap; nil if there is neither a file, nor a use of it, nor a unit.
func (k Swap) Read(ctx context.Context, c *swapCall) (*SwapState, error) {
	if err := errors.Join(k.check(), k.machine.CheckPath("/path", c.Config.Path)); err != nil {
		return nil, err
	}
	if has, err := mounts.InFstab(k.machine, 0, c.Config.Path); err != nil {
		return nil, err
	} else if has && c.Intent == protocol.Present {
		return nil, mounts.Twice(c.Config.Path)
	}
	s := &SwapState{}
	var err error
	if s.had, err = readFile(k.machine, c.Config.file().path); err != nil {
		return nil, err
	}
	info, err := os.Stat(k.machine.Path(c.Config.Path))
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	default:
		if err := k.checkFile(c, info); err != nil {
			return nil, err
		}
		if s.mode = info.Mode(); info.Mode().IsRegular() {
			s.Size = sizeText(info.Size(), c.Config.Size)
		}
	}
	ours := s.had.there || info != nil && info.Mode().IsRegular() && c.Config.Size != ""
	if s.Active, s.Priority, err = k.used(c.Config.Path); err != nil || !ours && (!s.Active || c.Intent == protocol.Absent) {
		return nil, err
	}
	p, err := k.show(ctx, c.Config.unit())
	s.Boot = p.enabled()
	return s, err
}

// Plan compares the file, its use now, and its use at boot.
func (k Swap) Plan(_ context.Context, c *swapCall, have *SwapState) (*protocol.Plan, error) {
	plan := &protocol.Plan{Actions: []protocol.Action{called("update", "Use it as the config declares")},
		Forecast: map[string]any{"active": true, "boot": true}, Unknown: []string{"/priority", "/size"}}
	if have == nil {
		plan.Actions[0].Name = "create"
		return plan, nil
	}
	because := func(path, format string, args ...any) {
		plan.Reasons = append(plan.Reasons, protocol.Reason{Path: path, Message: fmt.Sprintf(format, args...)})
	}
	if !have.Active {
		because("/path", "the kernel does not swap to it")
	}
	if !have.Boot {
		because("/path", "it is not used at boot")
	}
	switch {
	case c.IsUnknown("/size"):
		because("/size", "known only after other actions")
	case c.Config.Size != "" && have.Size == "":
		because("/size", "the file does not exist")
	case c.Config.Size != "" && bytesOf(have.Size) != bytesOf(c.Config.Size):
		because("/size", "the file has %s, and is replaced by one with %s: it is not used meanwhile", have.Size, c.Config.Size)
	}
	if have.mode.IsRegular() && have.Size != "" && have.mode.Perm() != swapMode {
		because("/path", "the file has the mode %04o, so that others may read what was in memory", have.mode.Perm())
	}
	if want := c.Config.Priority; want != nil && have.Active && !c.IsUnknown("/priority") && *have.Priority != *want {
		because("/priority", "it has the priority %d, and must have %d: it is not used meanwhile", *have.Priority, *want)
	}
	if r := c.Config.file().difference(have.had, ""); r != nil && !c.IsUnknown("/priority") {
		plan.Reasons = append(plan.Reasons, *r)
	}
	if len(plan.Reasons) == 0 {
		return nil, nil
	}
	return plan, nil
}

// Write makes the file, and has it used now and at boot.
func (k Swap) Write(ctx context.Context, c *swapCall) error {
	have, err := k.Read(ctx, c)
	if err != nil {
		return err
	}
	if have == nil {
		have = &SwapState{}
	}
	name, f := c.Config.unit(), c.Config.file()
	makes := c.Config.Size != "" && (have.Size == "" || bytesOf(have.Size) != bytesOf(c.Config.Size))
	moves := c.Config.Priority != nil && have.Active && *have.Priority != *c.Config.Priority
	if have.Active && (makes || moves) {
		if err := k.off(ctx, c.Config); err != nil {
			return err
		}
		have.Active = false
	}
	switch {
	case makes:
		if err := k.make(ctx, c.Config); err != nil {
			return err
		}
	case have.Size != "" && have.mode.Perm() != swapMode:
		if err := os.Chmod(k.machine.Path(c.Config.Path), swapMode); err != nil {
			return err
		}
	}
	if f.difference(have.had, "") != nil {
		if err := k.write(ctx, []unitFile{f}); err != nil {
			return err
		}
	}
	if !have.Boot {
		if err := k.systemctl(ctx, "enable", "--", name); err != nil {
			return err
		}
	}
	if have.Active {
		return nil
	}
	// Not by the unit: systemd does not swap where it takes the machine for a container.
	args := []string{"swapon"}
	if c.Config.Priority != nil {
		args = append(args, "-p", strconv.Itoa(*c.Config.Priority))
	}
	return k.machine.Run(ctx, access.Command{Args: append(args, "--", c.Config.Path)})
}

// PlanAbsence reports what else a removal does.
func (k Swap) PlanAbsence(_ context.Context, c *swapCall, _ *SwapState) (*protocol.Plan, error) {
	about := "Stop using it"
	if c.Config.Size != "" {
		about += ", and remove the file"
	}
	return &protocol.Plan{Actions: []protocol.Action{called("delete", about)}}, nil
}

// Delete has it not used any more, and removes the unit, and the file if this resource made it.
func (k Swap) Delete(ctx context.Context, c *swapCall) error {
	if active, _, err := k.used(c.Config.Path); err != nil {
		return err
	} else if active {
		if err := k.off(ctx, c.Config); err != nil {
			return err
		}
	}
	if err := k.stopAndDisable(ctx, c.Config.unit()); err != nil {
		return err
	}
	if err := k.remove(ctx, c.Config.file().path); err != nil {
		return err
	}
	if info, err := os.Lstat(k.machine.Path(c.Config.Path)); err != nil || !info.Mode().IsRegular() || c.Config.Size == "" {
		return nil // it is gone, or not this resource's
	}
	return replace.Remove(k.machine, c.Config.Path)
}

// Watch reports changes of its use.
func (k Swap) Watch(ctx context.Context, c *swapCall, tell func(detail string)) error {
	return files.WatchAll(ctx, tell,
		func(ctx context.Context, tell func(string)) error { return k.events.watch(ctx, c.Config.unit(), tell) },
		func(ctx context.Context, tell func(string)) error {
			return files.Watch(ctx, k.machine, c.Config.file().path, tell)
		})
}

// Discover lists the swaps that have a unit of the administrator.
func (k Swap) Discover(_ context.Context, _ *swapCall, tell func(SwapConfig, string) error) error {
	list, err := unitsOf(k.machine, ".swap")
	if err != nil {
		return err
	}
	for _, text := range list {
		c := SwapConfig{Path: text["What"]}
		if n, err := strconv.Atoi(text["Priority"]); err == nil {
			c.Priority = &n
		}
		if err := tell(c, strings.Trim(strings.ReplaceAll(c.Path, "/", "_"), "_")); err != nil {
			return err
		}
	}
	return nil
}
