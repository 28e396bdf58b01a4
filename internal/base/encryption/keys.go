package encryption

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"filippo.io/age"
	"filippo.io/age/agessh"
	"golang.org/x/crypto/ssh"
)

// MinPassphrase is the minimum length, in bytes, of a passphrase used for encryption:
// each guess costs a second, and shorter ones are in word lists.
const MinPassphrase = 8

// Keys are the keys that the user has given to decrypt files and to encrypt them.
type Keys struct {
	// Passphrases open files. The first one also encrypts, when there are no
	// Recipients.
	Passphrases []string
	// Recipients are the public keys that files are encrypted for: age1..., ssh-ed25519
	// ..., ssh-rsa ....
	Recipients []string
	// Identities are the contents of identity files: of age or of ssh.
	Identities []Identities
	// Missing are keys that were named but do not exist, each a half sentence for
	// messages.
	Missing []string
}

// Identities is an identity file.
type Identities struct {
	Name    string // for messages
	Content []byte
}

// CheckRecipient returns an error if a recipient is not valid.
func CheckRecipient(text string) error {
	_, err := recipient(text)
	return err
}

// recipient parses a public key of age or ssh.
func recipient(text string) (age.Recipient, error) {
	text = strings.TrimSpace(text)
	switch {
	case strings.HasPrefix(text, "age1pq1"):
		r, err := age.ParseHybridRecipient(text)
		return r, err
	case strings.HasPrefix(text, "age1"):
		r, err := age.ParseX25519Recipient(text)
		if err != nil {
			return nil, fmt.Errorf("it is not a recipient of age (those of plugins are not supported): %w", err)
		}
		return r, nil
	case strings.HasPrefix(text, "ssh-"):
		return agessh.ParseRecipient(text)
	case strings.HasPrefix(strings.ToUpper(text), "AGE-SECRET-KEY-"), strings.Contains(text, "PRIVATE KEY"):
		// The message does not contain it: it is a secret.
		return nil, errors.New("this is a private key, and must never be written here; `age-keygen -y FILE` prints the public one")
	}
	return nil, errors.New(`it is neither a public key of age ("age1...") nor of ssh ("ssh-ed25519 ...", "ssh-rsa ...")`)
}

func recipients(texts []string) ([]age.Recipient, error) {
	var out []age.Recipient
	for _, text := range texts {
		r, err := recipient(text)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

// parse parses an identity file of age, or a private key of ssh.
func (i Identities) parse() ([]age.Identity, error) {
	text := bytes.TrimSpace(i.Content)
	switch {
	case bytes.HasPrefix(text, []byte("age-encryption.org/")), bytes.HasPrefix(text, []byte("-----BEGIN AGE ENCRYPTED FILE")):
		return nil, errors.New("it is itself encrypted, and there is no prompt for its passphrase. Decrypt it with `age -d` into a file " +
			"that only you can read")
	case bytes.HasPrefix(text, []byte("-----BEGIN")):
		id, err := agessh.ParseIdentity(append(bytes.Clone(text), '\n'))
		if _, ok := errors.AsType[*ssh.PassphraseMissingError](err); ok {
			return nil, errors.New("the ssh key has a passphrase, and there is no prompt for it. Use a key without one, or an identity " +
				"of age (`age-keygen`)")
		}
		if err != nil {
			return nil, fmt.Errorf("it is not a usable private key of ssh: %w", err)
		}
		return []age.Identity{id}, nil
	}
	ids, err := age.ParseIdentities(bytes.NewReader(append(text, '\n')))
	if err != nil {
		return nil, fmt.Errorf("it is neither an identity file of age nor a private key of ssh: %w", err)
	}
	return ids, nil
}

func (k Keys) identities() ([]age.Identity, error) {
	var out []age.Identity
	for _, file := range k.Identities {
		ids, err := file.parse()
		if err != nil {
			return nil, refuse(ErrNoKey, "Cannot use an identity file", "%s: %s.", file.Name, err)
		}
		out = append(out, ids...)
	}
	return out, nil
}
