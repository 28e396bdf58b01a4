package workspace

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/base/encryption"
)

// Where keys are found when no manifest names them.
const (
	passphraseVariable     = "DEPLOYSTER_PASSPHRASE"
	passphraseFileVariable = "DEPLOYSTER_PASSPHRASE_FILE"
	identityFileVariable   = "DEPLOYSTER_IDENTITY_FILE"
)

// useKeys applies the encryption block of a manifest. Without one, files stay encrypted
// or not, as they are.
func (w *Workspace) useKeys(m *config.Manifest) {
	if m == nil || m.Settings().Encryption == nil {
		return
	}
	e := m.Settings().Encryption
	w.named = *e
	mode := encryption.Decrypt
	if e.Enabled {
		mode = encryption.Encrypt
	}
	w.Keys.Use(mode, func() (encryption.Keys, error) { return loadKeys(w.Options, *e) })
}

// OtherKeys returns a keyring for the state of another project. It stays encrypted, or not, as it is: with the keys that
// it has, which must be among those that the manifests of this one and the environment name.
func (w *Workspace) OtherKeys() *encryption.Keyring {
	named := w.named
	return encryption.New(encryption.AsFound, func() (encryption.Keys, error) { return loadKeys(w.Options, named) })
}

// loadKeys finds the keys that the encryption block and the environment name. A missing
// one is not an error as long as another key works.
func loadKeys(o Options, e config.Encryption) (encryption.Keys, error) {
	keys := encryption.Keys{Recipients: e.Recipients}
	file := func(path string) ([]byte, error) {
		content, err := os.ReadFile(o.HomePath(path))
		if errors.Is(err, os.ErrNotExist) {
			keys.Missing = append(keys.Missing, fmt.Sprintf("there is no file %s", path))
			return nil, nil
		}
		if err != nil {
			return nil, diag.Errorf("Cannot read a key", "%s. Nothing was changed.", err)
		}
		return content, nil
	}
	variable := func(name string) {
		if name == "" {
			return
		}
		if word := o.Env(name); word != "" {
			keys.Passphrases = append(keys.Passphrases, word)
		} else if name != passphraseVariable {
			keys.Missing = append(keys.Missing, fmt.Sprintf("the environment variable %s is not set", name))
		}
	}
	firstLine := func(path string) error {
		if path == "" {
			return nil
		}
		content, err := file(path)
		if word, _, _ := strings.Cut(string(content), "\n"); strings.TrimSuffix(word, "\r") != "" {
			keys.Passphrases = append(keys.Passphrases, strings.TrimSuffix(word, "\r"))
		}
		return err
	}
	variable(e.PassphraseEnv)
	err := firstLine(e.PassphraseFile)
	variable(passphraseVariable)
	err = errors.Join(err, firstLine(o.Env(passphraseFileVariable)))
	variable(e.OldPassphraseEnv)
	err = errors.Join(err, firstLine(e.OldPassphraseFile))
	for _, path := range append(e.IdentityFiles, filepath.SplitList(o.Env(identityFileVariable))...) {
		content, ferr := file(path)
		if err = errors.Join(err, ferr); content != nil {
			keys.Identities = append(keys.Identities, encryption.Identities{Name: path, Content: content})
		}
	}
	o.Secrets.Add(keys.Passphrases)
	return keys, err
}
