package savedplan

import (
	"cmp"
	"crypto/ed25519"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"deployster/internal/app/workspace"
	"deployster/internal/base/diag"
	"deployster/internal/base/signature"
	"deployster/internal/base/words"
	"deployster/plan"
	"deployster/plan/planfile"
)

// RequireSignature names the file of keys that plans must be signed with on this machine,
// whatever the command line declares.
const RequireSignature = "DEPLOYSTER_REQUIRE_SIGNATURE"

// maxKeyFile limits how much of a file of keys is read, in bytes.
const maxKeyFile = 1 << 20

// keyring is keys of signers, how many different ones must have signed, and the option or variable
// that named their file.
type keyring struct {
	name string // of the list in the file; "" = it has no name
	keys []ed25519.PublicKey
	need int
	from string
}

// Policy is what the operator demands of a plan before any of it is applied.
type Policy struct {
	digest  string    // "" = any
	open    bool      // -deferred reports what to do with what a plan leaves to its apply
	signers []keyring // each must have as many signatures as it needs
}

// PolicyOptions are what a command demands of a plan; nil = no demand.
type PolicyOptions struct {
	Digest    *string // the digest that it must have
	Deferred  *string // what to do with what the plan leaves to its apply
	Signature *string // the file of keys, one of which must have signed it
}

// PolicyOf reads the demands of a command and the environment.
func PolicyOf(o workspace.Options, asked PolicyOptions) (Policy, error) {
	p := Policy{open: asked.Deferred != nil}
	if asked.Digest != nil {
		if p.digest = *asked.Digest; !isDigest(p.digest) {
			return p, diag.Errorf("Invalid flag value",
				"-require-digest takes what `deployster show -digest PLAN` prints: sha256: and 64 hex digits. %q is not "+
					"that.", diag.Visible(p.digest))
		}
	}
	files := map[string]string{}
	if asked.Signature != nil {
		files["-require-signature"] = *asked.Signature
	}
	if file := o.Env(RequireSignature); file != "" {
		files[RequireSignature] = file
	}
	for _, from := range slices.Sorted(maps.Keys(files)) {
		text, err := keyFile(o, from, files[from])
		if err != nil {
			return p, err
		}
		lists, err := signature.ParseLists(text)
		if err != nil {
			return p, diag.Errorf("Cannot use the public key", "%s names %s: %s.", from, files[from], err)
		}
		for _, list := range lists {
			p.signers = append(p.signers, keyring{list.Name, list.Keys, list.Need, from})
		}
	}
	return p, nil
}

func isDigest(text string) bool {
	digits, ok := strings.CutPrefix(text, "sha256:")
	return ok && len(digits) == 64 && strings.Trim(digits, "0123456789abcdef") == ""
}

// keyFile reads a file of keys.
func keyFile(o workspace.Options, from, name string) ([]byte, error) {
	f, err := os.Open(o.Path(name))
	if err != nil {
		return nil, diag.Errorf("Cannot read the key", "%s names %s: %s.", from, cmp.Or(name, "no file"), err)
	}
	defer func() { _ = f.Close() }() // it was only read
	text, err := io.ReadAll(io.LimitReader(f, maxKeyFile))
	if err != nil {
		return nil, diag.Errorf("Cannot read the key", "%s names %s: %s.", from, name, err)
	}
	return text, nil
}

// SavedOnly refuses a command that makes its own plan where plans must be signed: such a
// plan cannot have a signature.
func (p Policy) SavedOnly(command string) error {
	if len(p.signers) == 0 {
		return nil
	}
	return diag.Errorf("A signed plan is required",
		"%s requires a signature, and a plan that `deployster %s` makes now has none. Nothing was changed.\n"+
			"Save a plan with `deployster plan -out=FILE -sign-key=KEY`, and give it to `deployster apply`.", p.signers[0].from, command)
}

// Check refuses a saved plan that does not meet the policy.
func (p Policy) Check(file string, pl *plan.Plan, signed planfile.Signatures) error {
	for _, t := range p.signers {
		if err := t.check(file, signed); err != nil {
			return err
		}
	}
	return p.CheckDigest(pl)
}

// check refuses a plan without enough signatures of a list.
func (t keyring) check(file string, signed planfile.Signatures) error {
	if len(signed) == 0 {
		return diag.Errorf("The plan is not signed",
			"%s: %s requires a signature, and it has none. Nothing was changed.\nAn approver signs it with "+
				"`deployster sign -sign-key=KEY %[1]s`.", file, t.from)
	}
	have := 0
	for _, s := range signed {
		if signature.Trusts(t.keys, s.Key) {
			have++
		}
	}
	by := "the key " + signed.IDs()[0]
	if len(signed) > 1 {
		by = "the keys " + strings.Join(signed.IDs(), ", ")
	}
	switch {
	case have >= t.need:
		return nil
	case t.need == 1 && t.name == "":
		return diag.Errorf("The plan is not signed by a trusted key", "%s is signed with %s. %s trusts %s. Nothing was changed.",
			file, by, t.from, names(t.keys))
	}
	list := "the list of keys"
	if t.name != "" {
		list = "the list [" + t.name + "]"
	}
	return diag.Errorf("The plan lacks signatures", "%s is signed with %s. %s requires %s of %s, and it has %d: the list trusts %s. "+
		"Nothing was changed.\nA further approver signs it with `deployster sign -sign-key=KEY %[1]s`.", file, by, t.from,
		words.Count(t.need, "signature"), list, have, names(t.keys))
}

// CheckDigest refuses a plan that differs from the approved one.
func (p Policy) CheckDigest(pl *plan.Plan) error {
	if p.digest == "" {
		return nil
	}
	got, err := planfile.Digest(pl)
	if err != nil {
		return err
	}
	if got != p.digest {
		return diag.Errorf("Plan digest does not match -require-digest",
			"-require-digest requires %s, and this plan has the digest %s: it differs from the approved one. Nothing was "+
				"changed.", p.digest, got)
	}
	if open := pl.LeftOpen(); len(open) > 0 && !p.open {
		return diag.Errorf("The plan has undecided changes",
			"-require-digest allows approved changes only, and this plan cannot show yet the changes of %s. Nothing was changed. Use "+
				"-deferred=apply to apply them, too, or -deferred=stop to skip them.", words.List(open, 5))
	}
	return nil
}

// OnlyShown reports whether apply may run nothing but what the plan shows: its digest is
// required, and no option declares what to do with the rest.
func (p Policy) OnlyShown() bool { return p.digest != "" && !p.open }

// Demanding reports whether a digest or a signature is required of a plan.
func (p Policy) Demanding() bool { return p.digest != "" || len(p.signers) > 0 }

func names(keys []ed25519.PublicKey) string {
	var ids []string
	for _, k := range keys {
		ids = append(ids, string(signature.ID(k)))
	}
	slices.Sort(ids)
	return "only " + strings.Join(slices.Compact(ids), ", ")
}

// SigningKey reads the key to sign the plan with that is saved in out; nil = it is not signed.
func SigningKey(o workspace.Options, file *string, out string, anyState bool) (ed25519.PrivateKey, error) {
	switch {
	case file == nil && anyState:
		return nil, diag.Errorf("Missing flag", "-any-state is for the plan that -sign-key signs, and -sign-key is missing. A plan "+
			"without a signature starts any state.")
	case file == nil:
		return nil, nil
	case out == "":
		return nil, diag.Errorf("Missing flag", "-sign-key signs the plan that -out saves, and -out is missing.")
	}
	return signKey(o, *file)
}

func signKey(o workspace.Options, file string) (ed25519.PrivateKey, error) {
	text, err := keyFile(o, "-sign-key", file)
	if err != nil {
		return nil, err
	}
	key, err := signature.ParsePrivate(text)
	if err != nil {
		return nil, diag.Errorf("Cannot use the key", "-sign-key names %s: %s.", file, err)
	}
	return key, nil
}
