package cli

import (
	"cmp"
	"crypto/ed25519"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"deployster/internal/base/diag"
	"deployster/internal/base/signature"
	"deployster/plan"
	"deployster/plan/planfile"
)

// requireSignatureEnv names keys that plans must be signed with on this
// machine, whatever the command line says.
const requireSignatureEnv = "DEPLOYSTER_REQUIRE_SIGNATURE"

// maxKeyFile is how much of a file of keys is read, in bytes.
const maxKeyFile = 1 << 20

func requireSignatureFlag() cli.Flag {
	return &cli.StringFlag{Name: "require-signature", Usage: "refuse a plan that is not signed with a key of `FILE` ($" + requireSignatureEnv + ")"}
}

func requireFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "require-digest", Usage: "refuse a plan whose digest (`deployster show -digest`) is not `DIGEST`"},
		requireSignatureFlag(),
	}
}

// trusted are keys, and where they were named.
type trusted struct {
	keys []ed25519.PublicKey
	from string
}

// policy is what the operator asks of a plan before anything of it is done.
type policy struct {
	digest  string    // "" = any
	signers []trusted // one key of each must have signed
}

// policy reads what the command line and the environment ask for.
func (s *session) policy(c *cli.Context) (policy, error) {
	p := policy{digest: c.String("require-digest")}
	if c.IsSet("require-digest") && !isDigest(p.digest) {
		return p, diag.Errorf("Wrong command line", "-require-digest takes what `deployster show -digest PLAN` prints: sha256: and 64 hex digits. %q is not that.", diag.Visible(p.digest))
	}
	for _, place := range []struct {
		from, file string
		set        bool
	}{
		{"-require-signature", c.String("require-signature"), c.IsSet("require-signature")},
		{requireSignatureEnv, s.env.get(requireSignatureEnv), s.env.get(requireSignatureEnv) != ""},
	} {
		if !place.set {
			continue
		}
		text, err := s.keyFile(place.from, place.file)
		if err != nil {
			return p, err
		}
		keys, err := signature.ParsePublic(text)
		if err != nil {
			return p, diag.Errorf("Cannot use the public key", "%s names %s: %s.", place.from, place.file, err)
		}
		p.signers = append(p.signers, trusted{keys, place.from})
	}
	return p, nil
}

func isDigest(text string) bool {
	digits, ok := strings.CutPrefix(text, "sha256:")
	return ok && len(digits) == 64 && strings.Trim(digits, "0123456789abcdef") == ""
}

// keyFile reads a file of keys.
func (s *session) keyFile(from, name string) ([]byte, error) {
	f, err := os.Open(s.path(name))
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

// savedOnly refuses a command that plans by itself, where plans must be signed:
// nobody could have.
func (p policy) savedOnly(command string) error {
	if len(p.signers) == 0 {
		return nil
	}
	return diag.Errorf("A signed plan is required", "%s asks for a signature, and what `deployster %s` would plan now nobody has signed. Nothing was changed.\n"+
		"Make a plan with `deployster plan -out=FILE -sign-key=KEY`, and give that to `deployster apply`.", p.signers[0].from, command)
}

// check refuses a saved plan that is not what the operator asks for.
func (p policy) check(file string, pl *plan.Plan, sig *planfile.Signature) error {
	for _, t := range p.signers {
		if sig == nil {
			return diag.Errorf("The plan is not signed", "%s: %s asks for a signature, and it has none. Nothing was changed.\nWhoever may approve it plans with `deployster plan -out=FILE -sign-key=KEY`.", file, t.from)
		}
		if !signature.Trusts(t.keys, sig.Key) {
			return diag.Errorf("The plan is signed by somebody else", "%s is signed with the key %s. %s trusts %s. Nothing was changed.",
				file, sig.By(), t.from, names(t.keys))
		}
	}
	return p.checkDigest(pl)
}

// checkDigest refuses a plan that is another than the one that was approved.
func (p policy) checkDigest(pl *plan.Plan) error {
	if p.digest == "" {
		return nil
	}
	got, err := planfile.Digest(pl)
	if err != nil {
		return err
	}
	if got != p.digest {
		return diag.Errorf("It is another plan", "-require-digest asks for %s, and this plan has the digest %s: it would do something else than the one that was approved. Nothing was changed.", p.digest, got)
	}
	return nil
}

func names(keys []ed25519.PublicKey) string {
	var ids []string
	for _, k := range keys {
		ids = append(ids, string(signature.ID(k)))
	}
	slices.Sort(ids)
	return "only " + strings.Join(slices.Compact(ids), ", ")
}

// signKey reads the key that a plan is to be signed with; nil = none.
func (s *session) signKey(c *cli.Context) (ed25519.PrivateKey, error) {
	name := c.String("sign-key")
	if !c.IsSet("sign-key") {
		return nil, nil
	}
	if c.String("out") == "" {
		return nil, diag.Errorf("Wrong command line", "-sign-key signs the plan that -out saves, and there is no -out.")
	}
	text, err := s.keyFile("-sign-key", name)
	if err != nil {
		return nil, err
	}
	key, err := signature.ParsePrivate(text)
	if err != nil {
		return nil, diag.Errorf("Cannot use the key", "-sign-key names %s: %s.", name, err)
	}
	return key, nil
}
