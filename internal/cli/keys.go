package cli

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/base/encryption"
)

// Where keys are looked for when no manifest says.
const (
	passphraseVariable     = "DEPLOYSTER_PASSPHRASE"
	passphraseFileVariable = "DEPLOYSTER_PASSPHRASE_FILE"
	identityFileVariable   = "DEPLOYSTER_IDENTITY_FILE"
)

// useKeys takes up what the manifest says of encryption. A manifest that says
// nothing changes nothing: files stay as they are found.
func (s *session) useKeys(m *config.Manifest) {
	if m == nil || m.Encryption() == nil {
		return
	}
	e := m.Encryption()
	mode := encryption.Decrypt
	if e.Enabled {
		mode = encryption.Encrypt
	}
	s.keys.Use(mode, func() (encryption.Keys, error) { return s.loadKeys(*e) })
}

// loadKeys finds the keys: what the encryption block names, and what the
// environment gives. What is named and not there is no error as long as another
// key does.
func (s *session) loadKeys(e config.Encryption) (encryption.Keys, error) {
	keys := encryption.Keys{Recipients: e.Recipients}
	file := func(path string) ([]byte, error) {
		content, err := os.ReadFile(s.home(path))
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
		if word := s.env.get(name); word != "" {
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
	err = errors.Join(err, firstLine(s.env.get(passphraseFileVariable)))
	variable(e.OldPassphraseEnv)
	err = errors.Join(err, firstLine(e.OldPassphraseFile))
	for _, path := range append(e.IdentityFiles, filepath.SplitList(s.env.get(identityFileVariable))...) {
		content, ferr := file(path)
		if err = errors.Join(err, ferr); content != nil {
			keys.Identities = append(keys.Identities, encryption.Identities{Name: path, Content: content})
		}
	}
	s.vault.add(keys.Passphrases)
	return keys, err
}

// home makes a path of the user's absolute, after -chdir; ~ is the home
// directory.
func (s *session) home(path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok && s.env.Home != "" {
		return filepath.Join(s.env.Home, rest)
	}
	return s.path(path)
}

// keysAround takes the keys of the manifests in the working directory, for a
// command that has read none. That they have mistakes does not matter here.
func (s *session) keysAround() {
	if sources, diags := config.Find(s.dir, nil); !diags.HasErrors() {
		m, _ := config.Load(sources, nil, s.builtins())
		s.useKeys(m)
	}
}

// clearBeside warns of files in clear text beside an encrypted state.
func (s *session) clearBeside(files []string) {
	if len(files) == 0 {
		return
	}
	s.err.Diagnostic(diag.Warningf("Earlier states are in clear text",
		"The state is encrypted, and %s beside it not: %s. `deployster state reencrypt` writes the copies anew; what was moved aside is yours to delete.",
		cmp.Or(map[bool]string{true: "a file"}[len(files) == 1], fmt.Sprintf("%d files", len(files))), strings.Join(files, ", ")))
}
