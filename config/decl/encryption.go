package decl

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"deployster/config/schema"
	"deployster/config/source"
	"deployster/internal/base/encryption"
)

// Encryption is the manifest's settings for the encryption of stored files.
type Encryption = source.Encryption

// encryption decodes the encryption block of a deployster block. Its values are
// constants, because keys are needed before anything can be evaluated.
func (l *loader) encryption(c *hcl.BodyContent) {
	blocks := c.Blocks.OfType("encryption")
	if len(blocks) == 0 {
		return
	}
	attrs := l.single(c, "encryption", schema.Encryption)
	if l.encrypted != nil {
		l.add(source.Failure(blocks[0].DefRange, "Declared twice", "There is already an encryption block, at %s:%d. Put both together.",
			l.encrypted.Filename, l.encrypted.Start.Line))
		return
	}
	l.encrypted = &blocks[0].DefRange
	if l.b.Parent != nil {
		l.add(source.Failure(blocks[0].DefRange, "Encryption in a module",
			"A module has no state of its own: only the root manifest configures encryption. Remove it here."))
		return
	}
	e := &Encryption{Enabled: true}
	for name, into := range map[string]*string{"passphrase_env": &e.PassphraseEnv, "passphrase_file": &e.PassphraseFile,
		"old_passphrase_env": &e.OldPassphraseEnv, "old_passphrase_file": &e.OldPassphraseFile} {
		l.constant(attrs[name], cty.String, func(v cty.Value) { *into = v.AsString() })
	}
	l.constant(attrs["enabled"], cty.Bool, func(v cty.Value) { e.Enabled = v.True() })
	e.Recipients = l.constants(attrs["recipients"], encryption.CheckRecipient)
	e.IdentityFiles = l.constants(attrs["identity_files"], func(string) error { return nil })
	if e.PassphraseEnv != "" && e.PassphraseFile != "" {
		l.add(source.Failure(attrs["passphrase_file"].NameRange, "Two passphrases",
			"passphrase_env and passphrase_file exclude each other. Keep one of them."))
	}
	l.t.Encryption = e
}

// constants decodes a list of texts, and checks each of them.
func (l *loader) constants(a *hcl.Attribute, check func(string) error) (out []string) {
	l.constant(a, cty.List(cty.String), func(list cty.Value) {
		items, _ := hcl.ExprList(a.Expr) // no items: the list comes from a function
		for i, v := range list.AsValueSlice() {
			at := a.Expr.Range()
			if i < len(items) {
				at = items[i].Range()
			}
			if v.IsNull() {
				l.add(source.Failure(at, "Wrong type", "null is not valid in %s.", a.Name))
				continue
			}
			if err := check(v.AsString()); err != nil {
				l.add(source.Failure(at, "Invalid "+a.Name, "This cannot be one of the %s: %s.", a.Name, err))
				continue
			}
			out = append(out, v.AsString())
		}
	})
	return out
}
