package nftables

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"deployster/machine/internal/saved"
)

// Guards reports that all actions are guarded: a rule may drop the connection that the next one needs.
func (Table) Guards(*call) bool { return true }

// was is a table as it was.
type was struct {
	Config Config `json:"config"` // without its rules
	Live   string `json:"live"`   // as nft lists it; "" = the kernel had no such table
	Boot   bool   `json:"boot"`   // it was loaded at boot
}

// Save saves the table as the kernel has it, and its files.
func (k Table) Save(ctx context.Context, c *call, dir string) error {
	in := saved.Directory{Machine: k.machine, Path: dir}
	w := was{Config: Config{Family: c.Config.Family, Table: c.Config.Table}}
	live, err := k.live(ctx, c.Config)
	if err != nil {
		return err
	}
	if live != "" {
		var out bytes.Buffer
		if err := k.nft(ctx, &out, "list", "table", c.Config.Family, c.Config.Table); err != nil {
			return err
		}
		w.Live = out.String()
	}
	unit, err := k.unit(c.Config).Facts(ctx)
	w.Boot = unit.There
	return errors.Join(err, in.PutFile("rules", c.Config.path(), false), in.PutFile("loaded", c.Config.recordPath(), false),
		in.Put("table", w))
}

// Undo restores the table in the kernel at first, and then what is loaded at boot.
func (k Table) Undo(ctx context.Context, log io.Writer, dir string) error {
	in := saved.Directory{Machine: k.machine, Path: dir}
	var w was
	if err := in.Get("table", &w); err != nil {
		return err
	}
	script := k.machine.Path(filepath.Join(dir, "undo.nft"))
	text := fmt.Sprintf("table %[1]s\ndelete table %[1]s\n%[2]s", w.Config.name(), w.Live)
	if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
		return err
	}
	if err := k.nft(ctx, nil, "-f", script); err != nil {
		return err
	}
	err := errors.Join(in.RestoreFile(ctx, "rules"), in.RestoreFile(ctx, "loaded"))
	if w.Boot {
		return errors.Join(err, k.unit(w.Config).Write(ctx, log))
	}
	return errors.Join(err, k.unit(w.Config).Remove(ctx))
}
