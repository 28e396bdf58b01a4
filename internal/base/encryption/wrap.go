package encryption

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"strings"

	"filippo.io/age"
)

const (
	keySize = 32
	// The cost of a passphrase, as a power of two: that of age, about a second and 256
	// MiB. A file that demands more than maxWorkFactor is refused, so that no file can
	// take all memory.
	workFactor    = 18
	maxWorkFactor = 20
)

// dataKey is the key from which the keys of files are derived, with its wrapped form.
type dataKey struct {
	wrapped []byte // an age file that holds key
	key     []byte
	by      string // the passphrase that it was wrapped or opened with; "" = none
}

// wrap makes a new data key and wraps it for recipients, or else with a passphrase.
func (k Keys) wrap(cost int) (*dataKey, error) {
	to, err := k.recipientsOf(cost)
	if err != nil {
		return nil, err
	}
	d := &dataKey{key: make([]byte, keySize)}
	if len(k.Recipients) == 0 {
		d.by = k.Passphrases[0]
	}
	rand.Read(d.key) // never returns an error: the program crashes instead
	var out bytes.Buffer
	w, err := age.Encrypt(&out, to...)
	if err == nil {
		_, err = w.Write(d.key)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return nil, refuse(err, "Cannot encrypt", "%s. Nothing was written.", err)
	}
	d.wrapped = out.Bytes()
	return d, nil
}

func (k Keys) recipientsOf(cost int) ([]age.Recipient, error) {
	if len(k.Recipients) > 0 {
		to, err := recipients(k.Recipients)
		if err != nil {
			return nil, refuse(ErrNoKey, "Not a recipient", "%s.", err)
		}
		return to, nil
	}
	if len(k.Passphrases) == 0 {
		return nil, refuse(ErrNoKey, "No key to encrypt with",
			"The manifest requires encryption, and there is neither a passphrase nor a recipient. %sSet DEPLOYSTER_PASSPHRASE, or write "+
				"passphrase_file or recipients into the encryption block. Nothing was changed.", k.missing())
	}
	if len(k.Passphrases[0]) < MinPassphrase {
		return nil, refuse(ErrNoKey, "The passphrase is too short", "It has %d bytes; the least is %d. Nothing was changed.",
			len(k.Passphrases[0]), MinPassphrase)
	}
	r, err := age.NewScryptRecipient(k.Passphrases[0])
	if err != nil {
		return nil, refuse(ErrNoKey, "Cannot use the passphrase", "%s.", err)
	}
	r.SetWorkFactor(cost)
	return []age.Recipient{r}, nil
}

// unwrap decrypts a data key. Its errors have no text for the user yet.
func (k Keys) unwrap(wrapped []byte) (*dataKey, error) {
	if byPassphrase(wrapped) {
		for _, p := range k.Passphrases {
			id, err := age.NewScryptIdentity(p)
			if err != nil {
				continue // an empty one opens nothing
			}
			id.SetMaxWorkFactor(maxWorkFactor)
			if d, err := decrypt(wrapped, id); !errors.Is(err, ErrWrongKey) {
				if d != nil {
					d.by = p
				}
				return d, err
			}
		}
		if len(k.Passphrases) == 0 {
			return nil, ErrNoKey
		}
		return nil, ErrWrongKey
	}
	ids, err := k.identities()
	if err != nil {
		return nil, err
	}
	if len(ids) == 0 {
		return nil, ErrNoKey
	}
	return decrypt(wrapped, ids...)
}

// missing returns a sentence about keys that were named but do not exist, or "".
func (k Keys) missing() string {
	if len(k.Missing) == 0 {
		return ""
	}
	text := strings.Join(k.Missing, ", ")
	return strings.ToUpper(text[:1]) + text[1:] + ". "
}

func decrypt(wrapped []byte, ids ...age.Identity) (*dataKey, error) {
	r, err := age.Decrypt(bytes.NewReader(wrapped), ids...)
	if _, ok := errors.AsType[*age.NoIdentityMatchError](err); ok {
		return nil, ErrWrongKey
	}
	if err != nil {
		return nil, errors.Join(ErrDamaged, err)
	}
	key, err := io.ReadAll(io.LimitReader(r, keySize+1))
	if err != nil || len(key) != keySize {
		return nil, errors.Join(ErrDamaged, err)
	}
	return &dataKey{wrapped: wrapped, key: key}, nil
}

// byPassphrase reports whether a key is wrapped with a passphrase, not for recipients.
func byPassphrase(wrapped []byte) bool { return bytes.Contains(wrapped, []byte("\n-> scrypt ")) }
