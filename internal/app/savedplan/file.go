package savedplan

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"deployster/apply/fresh"
	"deployster/internal/app/redact"
	"deployster/internal/app/workspace"
	"deployster/internal/base/diag"
	"deployster/internal/base/durable"
	"deployster/internal/base/encryption"
	"deployster/internal/base/secret"
	"deployster/plan"
	"deployster/plan/begins"
	"deployster/plan/planfile"
	"deployster/state"
)

// Save writes a plan file. It may hold secrets, so only its owner can read it.
func Save(w *workspace.Workspace, p *plan.Plan, file string, key ed25519.PrivateKey) error {
	var content bytes.Buffer
	if err := planfile.WriteSigned(&content, p, key); err != nil {
		return diag.Errorf("Cannot save the plan", "%s: %s.", file, err)
	}
	return write(w, content.Bytes(), file)
}

// write writes the bytes of a plan, encrypted if the workspace has keys.
func write(w *workspace.Workspace, content []byte, file string) error {
	var err error
	if file != workspace.Std {
		err = w.Replaceable(file)
	}
	var written []byte
	if err == nil {
		written, err = w.Keys.Encrypt(encryption.Plan, content)
	}
	switch {
	case err != nil:
	case file == workspace.Std:
		_, err = w.Stdout.Write(written)
	default:
		err = durable.WriteFileHere(w.Path(file), written, 0o600)
	}
	if err != nil {
		return diag.Errorf("Cannot save the plan", "%s: %s.", file, err)
	}
	return nil
}

// Bind notes in a plan that is to be signed which state it may begin, if it was made without one.
func Bind(w *workspace.Workspace, p *plan.Plan, place state.Place, anyState bool) error {
	switch {
	case p.Lineage != "" && anyState:
		w.Note("-any-state has no effect: the plan was made from the state at %s, and is for that state only.", place)
		return nil
	case p.Lineage != "":
		return nil
	case anyState:
		p.Begins = &begins.State{Any: true}
	default:
		at, err := begins.At(place, w.DataDir)
		if err != nil {
			return err
		}
		p.Begins = &at
	}
	p.ID = plan.Fingerprint(p)
	return nil
}

// Fits returns an error if a saved plan may not be applied to the state at a place.
func Fits(o workspace.Options, p *plan.Plan, place state.Place, s state.Snapshot) error {
	if p.Begins != nil {
		at, err := begins.At(place, o.DataDir)
		if err == nil {
			err = fresh.Place(p, s, at)
		}
		if err != nil {
			return err
		}
	}
	return fresh.Check(p, s)
}

// CheckFile returns an error if a plan could not be saved under a name, or apply
// would not take the file for a plan. It is called before a plan is made.
func CheckFile(o workspace.Options, file string) error {
	err := o.Replaceable(file)
	if err == nil && workspace.IsManifest(file) {
		err = fmt.Errorf("apply takes a file of this name for a manifest, and not for a plan. Choose another name, such as plan.bin")
	}
	if err == nil {
		var probe *os.File
		if probe, err = os.CreateTemp(filepath.Dir(o.Path(file)), ".deployster-*"); err == nil {
			_ = probe.Close() // nothing was written
			err = os.Remove(probe.Name())
		}
	}
	if at, ok := errors.AsType[*os.PathError](err); ok {
		err = fmt.Errorf("the directory %s: %w", filepath.Dir(o.Path(file)), at.Err)
	}
	if err != nil {
		return diag.Errorf("Cannot save the plan", "%s: %s.", file, err)
	}
	return nil
}

// Read reads a plan file, and returns its signatures. It reads the file once, so that the
// content that was checked is the content that is used.
func Read(w *workspace.Workspace, file string) (*plan.Plan, planfile.Signatures, error) {
	content, err := opened(w, file)
	if err != nil {
		return nil, nil, err
	}
	p, signatures, err := planfile.ReadSigned(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return nil, nil, inFile(file, err)
	}
	return p, signatures, nil
}

// opened returns the bytes of a plan, decrypted.
func opened(w *workspace.Workspace, file string) ([]byte, error) {
	content, err := contentOf(w.Options, file)
	if err != nil {
		return nil, diag.Errorf("Cannot read the plan file", "%s.", err)
	}
	if encryption.Is(content) {
		w.UseKeys()
		return w.Keys.Open(encryption.Plan, file, content)
	}
	return content, nil
}

// inFile names the file in an error about the plan in it.
func inFile(file string, err error) error {
	for _, d := range diag.From("Not a valid plan file", err) {
		d.Detail = file + ": " + d.Detail
		return d
	}
	return err
}

// Sign adds a signature to a saved plan, and returns the plan with all its signatures. The file is
// replaced at once, or, of stdin, written to stdout; an encrypted one is encrypted again. A plan that
// does not meet the policy is refused.
func Sign(w *workspace.Workspace, file, keyFile string, policy Policy) (Shown, error) {
	key, err := signKey(w.Options, keyFile)
	if err != nil {
		return Shown{}, err
	}
	content, err := opened(w, file)
	if err != nil {
		return Shown{}, err
	}
	content, _, err = planfile.Sign(content, key)
	if _, told := errors.AsType[*diag.Diagnostic](err); told {
		return Shown{}, inFile(file, err)
	} else if err != nil {
		return Shown{}, diag.Errorf("Cannot sign the plan", "%s: %s. Nothing was changed.", file, err)
	}
	p, signatures, err := planfile.ReadSigned(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return Shown{}, inFile(file, err)
	}
	if err := policy.CheckDigest(p); err != nil {
		return Shown{}, err
	}
	if err := write(w, content, file); err != nil {
		return Shown{}, err
	}
	d := Shown{Plan: p, File: file, SignedBy: signatures.IDs()}
	d.Digest, err = planfile.Digest(p)
	return d, err
}

// contentOf returns the bytes of a plan.
func contentOf(o workspace.Options, file string) ([]byte, error) {
	if file != workspace.Std {
		return os.ReadFile(o.Path(file))
	}
	content, err := io.ReadAll(o.Stdin)
	if err == nil && len(content) == 0 {
		err = errors.New("stdin is empty")
	}
	return content, err
}

// IsPlan reports whether the paths that a command was given are one saved plan, and
// not manifests.
func IsPlan(w *workspace.Workspace, paths []string) bool {
	if len(paths) != 1 || workspace.IsManifest(paths[0]) {
		return false
	}
	if paths[0] == workspace.Std {
		return true
	}
	info, err := os.Stat(w.Path(paths[0]))
	return err == nil && !info.IsDir()
}

// Document is a saved plan as JSON.
type Document struct {
	*planfile.Document
	Digest     string      `json:"digest,omitempty"`     // what -require-digest compares
	SignedBy   string      `json:"signed_by,omitempty"`  // the public key of the first signature; absent = not signed
	Signatures []Signature `json:"signatures,omitempty"` // the first one first
}

// Signature is one of a saved plan, as JSON.
type Signature struct {
	Key string `json:"key"` // the id of the public key
}

// Shown is a plan with the digest and the signers of its file.
type Shown struct {
	*plan.Plan
	Digest   string
	SignedBy []string // the ids of the public keys, the first one first
	File     string   // as it was named
}

// Show reads a saved plan to be shown, and learns its secrets. If signature is not nil the plan must be
// signed by a key of that file, and of the environment's. With digest it computes the digest.
func Show(w *workspace.Workspace, file string, signature *string, digest bool) (Shown, error) {
	p, signed, err := Read(w, file)
	d := Shown{Plan: p, File: file}
	if err == nil && signature != nil {
		var asked Policy
		if asked, err = PolicyOf(w.Options, PolicyOptions{Signature: signature}); err == nil {
			err = asked.Check(file, p, signed)
		}
	}
	if err == nil && digest {
		d.Digest, err = planfile.Digest(p)
	}
	if err != nil {
		return d, err
	}
	for _, step := range p.Resources {
		w.Secrets.Add(w.Secrets.StepSecrets(step))
	}
	for _, name := range p.SensitiveVariables {
		w.Secrets.Add(secret.Values(p.Variables[name], []string{"/value"}))
	}
	d.SignedBy = signed.IDs()
	return d, nil
}

// Masked returns the document as it is printed, without sensitive values.
func (d Shown) Masked(r *redact.Redactor) Document {
	out := Document{Document: planfile.NewDocument(r.Plan(d.Plan)), Digest: d.Digest}
	for i, key := range d.SignedBy {
		if i == 0 {
			out.SignedBy = key
		}
		out.Signatures = append(out.Signatures, Signature{Key: key})
	}
	return out
}
