package encryption

import (
	"errors"
	"sync"

	"deployster/internal/base/diag"
)

// Mode selects whether files are written encrypted.
type Mode int

// The modes. Leaving out the encryption settings decrypts nothing: AsFound writes files
// like the first encrypted file that was read.
const (
	AsFound Mode = iota // encrypted when the first encrypted file was opened, with its key
	Encrypt
	Decrypt
)

// Keyring decrypts and encrypts the files of one process. A nil Keyring has no keys: it
// writes clear text and refuses encrypted files. It is safe for concurrent use.
type Keyring struct {
	cost int // of a passphrase, see workFactor

	mu     sync.Mutex
	load   func() (Keys, error)
	mode   Mode
	keys   *Keys
	opened map[string]*dataKey // by the wrapped key
	first  *dataKey            // the first one that was opened
	writer *dataKey            // chosen
}

// New returns a keyring. Load is called once, when a key is needed for the first time: a
// project without encrypted files needs none. Its error is returned to the caller that
// needed the key.
func New(mode Mode, load func() (Keys, error)) *Keyring {
	return &Keyring{load: load, mode: mode, cost: workFactor, opened: map[string]*dataKey{}}
}

// Use changes the mode and the keys; data keys that are opened stay opened.
func (k *Keyring) Use(mode Mode, load func() (Keys, error)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.load, k.mode, k.keys, k.writer = load, mode, nil, nil
}

// Encrypts reports whether the keyring encrypts what is written now.
func (k *Keyring) Encrypts() bool {
	if k == nil {
		return false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.mode == Encrypt || k.mode == AsFound && k.first != nil
}

// Ready checks that files can be written in the selected mode: if it encrypts, Ready
// makes the key for it.
func (k *Keyring) Ready() error {
	if !k.Encrypts() {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	_, err := k.writing()
	return err
}

// given returns the keys of the user, and loads them the first time.
func (k *Keyring) given() (Keys, error) {
	if k.keys != nil {
		return *k.keys, nil
	}
	keys, err := k.load()
	if err != nil {
		return Keys{}, err
	}
	k.keys = &keys
	return keys, nil
}

// writing returns the data key for encryption. If the present passphrase opened a file,
// its data key encrypts the next one too: to wrap another one with a passphrase would
// cost a second.
func (k *Keyring) writing() (*dataKey, error) {
	if k.writer != nil {
		return k.writer, nil
	}
	if k.mode == AsFound {
		k.writer = k.first
		return k.writer, nil
	}
	keys, err := k.given()
	if err != nil {
		return nil, err
	}
	if len(keys.Recipients) == 0 && len(keys.Passphrases) > 0 {
		for _, d := range k.opened {
			if d.by == keys.Passphrases[0] {
				k.writer = d
				return d, nil
			}
		}
	}
	d, err := keys.wrap(k.cost)
	if err != nil {
		return nil, err
	}
	k.writer, k.opened[string(d.wrapped)] = d, d
	return d, nil
}

// reading returns the data key of a file, and unwraps each only once. The name is the
// file's, for the message.
func (k *Keyring) reading(name string, wrapped []byte) (*dataKey, error) {
	if k == nil {
		return nil, locked(ErrNoKey, name, wrapped, Keys{})
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if d := k.opened[string(wrapped)]; d != nil {
		return d, nil
	}
	keys, err := k.given()
	if err != nil {
		return nil, err
	}
	d, err := keys.unwrap(wrapped)
	if err != nil {
		return nil, locked(err, name, wrapped, keys)
	}
	k.opened[string(wrapped)] = d
	if k.first == nil {
		k.first = d
	}
	return d, nil
}

// advice shows where the user can give a key, for messages.
func advice(wrapped []byte) string {
	if byPassphrase(wrapped) {
		return "Give the passphrase in DEPLOYSTER_PASSPHRASE, or in a file that DEPLOYSTER_PASSPHRASE_FILE or the encryption block of " +
			"the manifests names."
	}
	return "Name the file with the private key in DEPLOYSTER_IDENTITY_FILE, or in identity_files in the encryption block of the manifests."
}

// locked returns the error for a data key that cannot be opened.
func locked(err error, name string, wrapped []byte, keys Keys) error {
	what := "for recipients"
	if byPassphrase(wrapped) {
		what = "with a passphrase"
	}
	switch {
	case diag.Is[*diag.Caused](err):
		return err
	case errors.Is(err, ErrNoKey):
		return refuse(ErrNoKey, "Encrypted, and there is no key", "%s is encrypted %s, and no such key was given. %s%s Nothing was "+
			"changed.",
			name, what, keys.missing(), advice(wrapped))
	case errors.Is(err, ErrWrongKey):
		return refuse(ErrWrongKey, "Encrypted with another key", "%s is encrypted %s, and the given key does not open it. %s%s After a "+
			"change of keys the previous one is needed until all files are written again. Nothing was "+
			"changed.", name, what, keys.missing(),
			advice(wrapped))
	}
	return damaged(name, "its key cannot be read")
}

func damaged(name, why string) error {
	return refuse(ErrDamaged, "An encrypted file is damaged",
		"%s: %s. It is truncated, or was changed. Nothing was changed.", name, why)
}
