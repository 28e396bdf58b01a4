package certificates

import (
	"bytes"
	"context"
	"crypto"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"deployster/machine/internal/files"
	"deployster/machine/internal/replace"
	"deployster/protocol"
)

// Plan compares the certificate and its files.
func (k Certificate) Plan(ctx context.Context, c *call, have *State) (*protocol.Plan, error) {
	plan := &protocol.Plan{Actions: []protocol.Action{{Name: "create", Description: "Make a key, and have the certificate signed"}},
		Unknown:  []string{"/not_after", "/fingerprint", "/dns_names", "/common_name", "/issuer"},
		Forecast: map[string]any{"key_type": c.Config.KeyType}}
	if have != nil {
		plan.Actions[0] = protocol.Action{Name: "update", Description: "Have the certificate signed again"}
		plan.Reasons = have.reasons
		if len(c.Unknown) > 0 {
			plan.Reasons = append(plan.Reasons, protocol.Reason{Path: c.Unknown[0], Message: "known only after other actions"})
		}
		switch fresh, err := k.signs(c, have); {
		case err != nil:
			return nil, err
		case len(plan.Reasons) == 0:
			return nil, nil
		case !fresh:
			plan.Actions[0].Description = "Give the files their owner and mode"
			plan.Unknown, plan.Forecast = nil, have
			return plan, nil
		}
	}
	attributes := files.Attributes{Owner: c.Config.Owner, Group: c.Config.Group}
	plan.Reasons = append(plan.Reasons, attributes.Missing(ctx, k.machine)...)
	if c.IsUnknown("/key_type") {
		plan.Forecast = nil
	}
	return plan, nil
}

// signs reports whether an update has the certificate signed again: not if only a mode or an owner is another.
func (k Certificate) signs(c *call, have *State) (bool, error) {
	key, err := k.key(c.Config.keyPath())
	if err != nil {
		return false, err
	}
	return key == nil || !same(key.Public(), have.one.PublicKey) || len(k.differs(c, have)) > 0 || len(c.Unknown) > 0, nil
}

// Write makes the key if it is missing, and has the certificate signed if it is not what the config declares.
func (k Certificate) Write(ctx context.Context, c *call) error {
	unlock, err := replace.Lock(ctx, k.machine, c.Config.Path)
	if err != nil {
		return err
	}
	defer unlock()
	have, err := k.Read(ctx, c)
	if err != nil {
		return err
	}
	key, err := k.key(c.Config.keyPath())
	if err != nil {
		return err
	}
	fresh := key == nil || typeOf(key.Public()) != c.Config.KeyType
	signed := have != nil && !fresh && same(key.Public(), have.one.PublicKey) && len(k.differs(c, have)) == 0
	if signed {
		return errors.Join(k.change(ctx, c.Config, "/key_path", nil), k.change(ctx, c.Config, "/path", nil))
	}
	var text []byte // nil = the key stays
	if fresh {
		if key, text, err = newKey(c.Config.KeyType); err != nil {
			return err
		}
	}
	chain, err := k.sign(ctx, c, key)
	if err != nil {
		return err // nothing was changed
	}
	if err := k.change(ctx, c.Config, "/key_path", text); err != nil {
		return err
	}
	return k.change(ctx, c.Config, "/path", chain)
}

// change writes one of the files, with its owner and mode; without content it keeps the existing one. A link is
// replaced by what it leads to.
func (k Certificate) change(ctx context.Context, c Config, at string, content []byte) error {
	path := map[string]string{"/path": c.Path, "/key_path": c.keyPath()}[at]
	one, err := files.Attributes{Owner: c.Owner, Group: c.Group}.Change(ctx, k.machine)
	if err != nil {
		return err
	}
	if info, err := os.Lstat(k.machine.Path(path)); content == nil && err == nil && info.Mode()&fs.ModeSymlink != 0 {
		if content, err = os.ReadFile(k.machine.Path(path)); err != nil {
			return err
		}
	}
	mode := modes[at]
	if one.Mode = &mode; content != nil {
		one.Content = bytes.NewReader(content)
	}
	return replace.File(ctx, k.machine, path, one)
}

// sign returns the certificate and those between it and its authority, as PEM.
func (k Certificate) sign(ctx context.Context, c *call, key crypto.Signer) ([]byte, error) {
	if c.Config.acme() {
		return k.order(ctx, c, key)
	}
	template, err := k.template(c.Config)
	if err != nil {
		return nil, err
	}
	if c.Config.Issuer == self {
		return signed(template, template, key.Public(), key, nil)
	}
	list, authority, err := k.authority(c.Config)
	if err != nil {
		return nil, err
	}
	return signed(template, list[0], key.Public(), authority, list)
}

// authority returns the certificate of the authority of the machine, those above it, and its key.
func (k Certificate) authority(c Config) (list []*x509.Certificate, key crypto.Signer, err error) {
	if list, err = k.certificates(c.Issuer); err != nil {
		return nil, nil, err
	}
	if len(list) == 0 {
		return nil, nil, fmt.Errorf("there is no certificate of the authority in %s: correct /issuer, or depend on the "+
			"resource that makes it", c.Issuer)
	}
	one := list[0]
	if !one.IsCA {
		return nil, nil, fmt.Errorf("%s in %s may not sign others: its resource needs ca = true", one.Subject, c.Issuer)
	}
	if now := k.now(); now.After(one.NotAfter) {
		return nil, nil, fmt.Errorf("the authority in %s ended at %s: renew it first", c.Issuer, one.NotAfter.UTC().Format(time.RFC3339))
	}
	if key, err = k.key(c.issuerKey()); err != nil {
		return nil, nil, err
	}
	switch {
	case key == nil:
		return nil, nil, fmt.Errorf("the key of the authority is not in %s: write its place as issuer_key", c.issuerKey())
	case !same(key.Public(), one.PublicKey):
		return nil, nil, fmt.Errorf("%s has not the key of the authority in %s", c.issuerKey(), c.Issuer)
	}
	return list, key, nil
}

// PlanAbsence reports what is lost.
func (k Certificate) PlanAbsence(_ context.Context, c *call, have *State) (*protocol.Plan, error) {
	one := protocol.Action{Name: "delete", Description: "Remove the certificate and its key"}
	if have.one != nil && have.one.IsCA {
		one.Destructive, one.Description = true, "Remove the authority and its key: what it has signed can not be renewed"
	}
	return &protocol.Plan{Actions: []protocol.Action{one}}, nil
}

// Delete removes the certificate, and then its key.
func (k Certificate) Delete(ctx context.Context, c *call) error {
	unlock, err := replace.Lock(ctx, k.machine, c.Config.Path)
	if err != nil {
		return err
	}
	defer unlock()
	for _, path := range []string{c.Config.Path, c.Config.keyPath()} {
		if _, err := os.Lstat(k.machine.Path(filepath.Dir(path))); err != nil {
			continue // there is no directory of it
		}
		if err := replace.Remove(k.machine, path); err != nil {
			return err
		}
	}
	return nil
}

// Watch reports changes of both files, and the day on which the certificate is renewed.
func (k Certificate) Watch(ctx context.Context, c *call, tell func(detail string)) error {
	all := make(chan struct{}) // is closed when everything is watched: what is reported before is not passed on
	heard := sync.OnceFunc(func() { close(all) })
	due := func(ctx context.Context, tell func(string)) error {
		tell("")
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-all:
		}
		for {
			wait := time.Hour // its file may be another then
			list, err := k.certificates(c.Config.Path)
			if err == nil && len(list) > 0 {
				if left := renewal(c.Config, list[0]).Sub(k.now()); left > 0 {
					wait = min(wait, left)
				} else {
					tell("the certificate is to be renewed")
				}
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(wait):
			}
		}
	}
	file := func(path string) func(context.Context, func(string)) error {
		return func(ctx context.Context, tell func(string)) error { return files.Watch(ctx, k.machine, path, tell) }
	}
	return files.WatchAll(ctx, func(detail string) {
		heard()
		tell(detail)
	}, file(c.Config.Path), file(c.Config.keyPath()), due)
}
