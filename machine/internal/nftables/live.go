package nftables

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"

	"deployster/machine/internal/access"
	"deployster/protocol"
)

func difference(have, want string) protocol.Reason {
	r := protocol.Reason{Path: "/ruleset", Message: "the table has other rules"}
	r.Have, _ = json.Marshal(have)
	r.Want, _ = json.Marshal(want)
	return r
}

func (k Table) nft(ctx context.Context, out io.Writer, args ...string) error {
	err := k.machine.Run(ctx, access.Command{Args: append([]string{"nft"}, args...), Stdout: out,
		Description: "nft " + strings.Join(args, " ")})
	if errors.Is(err, exec.ErrNotFound) {
		return fmt.Errorf("%w: install the package nftables first", err)
	}
	return err
}

// load has nft read a file; an error names the file that it will be.
func (k Table) load(ctx context.Context, beside, as string, flags ...string) error {
	err := k.nft(ctx, nil, append(flags, "-f", k.machine.Path(beside))...)
	if exit, ok := errors.AsType[*access.ExitError](err); ok {
		return fmt.Errorf("nft does not accept the rules, and nothing was changed:\n%s",
			strings.ReplaceAll(exit.Output, k.machine.Path(beside), as))
	}
	return err
}

// live describes the table as the kernel has it: without what changes by itself. "" = it has none,
// or the machine has no nft yet.
func (k Table) live(ctx context.Context, c Config) (string, error) {
	var out bytes.Buffer
	err := k.nft(ctx, &out, "-j", "list", "tables")
	if errors.Is(err, exec.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	var all struct {
		Nftables []struct {
			Table *struct{ Family, Name string }
		}
	}
	if err := json.Unmarshal(out.Bytes(), &all); err != nil {
		return "", fmt.Errorf("what nft prints cannot be read: %w", err)
	}
	there := false
	for _, one := range all.Nftables {
		there = there || one.Table != nil && one.Table.Family == c.Family && one.Table.Name == c.Table
	}
	if !there {
		return "", nil
	}
	out.Reset()
	if err := k.nft(ctx, &out, "-j", "list", "table", c.Family, c.Table); err != nil {
		return "", err
	}
	return described(out.Bytes())
}

// described returns what nft prints of a table, without numbers that are given and counted.
func described(raw []byte) (string, error) {
	var all struct{ Nftables []map[string]any }
	if err := json.Unmarshal(raw, &all); err != nil {
		return "", fmt.Errorf("what nft prints cannot be read: %w", err)
	}
	var b strings.Builder
	for _, one := range all.Nftables {
		if one["metainfo"] != nil {
			continue
		}
		for _, of := range []string{"set", "map", "meter"} {
			if set, ok := one[of].(map[string]any); ok && fills(set) {
				delete(set, "elem")
			}
		}
		line, err := json.Marshal(settled(one))
		if err != nil {
			return "", err
		}
		b.Write(append(line, '\n'))
	}
	return b.String(), nil
}

// fills reports whether the elements of a set come and go by themselves.
func fills(set map[string]any) bool {
	flags := fmt.Sprint(set["flags"])
	return strings.Contains(flags, "dynamic") || strings.Contains(flags, "timeout")
}

// settled takes handles and counts out of a value.
func settled(v any) any {
	switch v := v.(type) {
	case map[string]any:
		delete(v, "handle")
		for _, of := range []string{"counter", "quota", "last"} {
			if counts, ok := v[of].(map[string]any); ok {
				for _, name := range []string{"packets", "bytes", "used", "used_unit"} {
					delete(counts, name)
				}
			}
		}
		for name, inner := range v {
			v[name] = settled(inner)
		}
	case []any:
		for i, inner := range v {
			v[i] = settled(inner)
		}
	}
	return v
}

// monitor reports changes of a table until ctx ends.
func (k Table) monitor(ctx context.Context, c Config, tell func(detail string)) error {
	from, to := io.Pipe()
	go func() {
		err := k.nft(ctx, to, "monitor", "ruleset")
		if err == nil {
			err = io.EOF
		}
		_ = to.CloseWithError(err)
	}()
	defer func() { _ = from.Close() }()
	tell("")
	lines := bufio.NewScanner(from)
	for lines.Scan() {
		if words := " " + strings.Join(strings.Fields(lines.Text()), " ") + " "; strings.Contains(words, " "+c.name()+" ") {
			tell("the kernel has other rules")
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("nft monitor has ended: %w", lines.Err())
}
