package sealed

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"

	"filippo.io/age"
)

const (
	keySize = 32
	// The cost of a passphrase, as a power of two: that of age, about a second
	// and 256 MiB. A file that demands more than the second one is refused, so
	// that a file cannot take all memory.
	workFactor    = 18
	maxWorkFactor = 20
)

// dataKey is what the keys of files are derived from, with its wrapping.
type dataKey struct {
	wrapped []byte // an age file that holds key
	key     []byte
}

// wrap makes a new data key, for recipients or else for a passphrase.
func (k Keys) wrap(cost int) (*dataKey, error) {
	to, err := k.sealFor(cost)
	if err != nil {
		return nil, err
	}
	d := &dataKey{key: make([]byte, keySize)}
	rand.Read(d.key) // never fails: the program ends before it would
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

func (k Keys) sealFor(cost int) ([]age.Recipient, error) {
	if len(k.Recipients) > 0 {
		to, err := recipients(k.Recipients)
		if err != nil {
			return nil, refuse(ErrNoKey, "Not a recipient", "%s.", err)
		}
		return to, nil
	}
	if len(k.Passphrases) == 0 {
		return nil, refuse(ErrNoKey, "No key to encrypt with",
			"The manifest asks for encryption, and there is neither a passphrase nor a recipient. Set DEPLOYSTER_PASSPHRASE, or write passphrase_file or recipients into the encryption block. Nothing was changed.")
	}
	if len(k.Passphrases[0]) < MinPassphrase {
		return nil, refuse(ErrNoKey, "The passphrase is too short", "It has %d bytes; the least is %d. Nothing was changed.", len(k.Passphrases[0]), MinPassphrase)
	}
	r, err := age.NewScryptRecipient(k.Passphrases[0])
	if err != nil {
		return nil, refuse(ErrNoKey, "Cannot use the passphrase", "%s.", err)
	}
	r.SetWorkFactor(cost)
	return []age.Recipient{r}, nil
}

// unwrap opens a data key. It says whether the passphrase did that which files
// are sealed with now. Its errors have no words yet.
func (k Keys) unwrap(wrapped []byte) (d *dataKey, present bool, err error) {
	if bytes.Contains(wrapped, []byte("\n-> scrypt ")) {
		for i, p := range k.Passphrases {
			id, err := age.NewScryptIdentity(p)
			if err != nil {
				continue // an empty one fits nothing
			}
			id.SetMaxWorkFactor(maxWorkFactor)
			if d, err := decrypt(wrapped, id); !errors.Is(err, ErrWrongKey) {
				return d, i == 0, err
			}
		}
		return nil, false, missing(len(k.Passphrases))
	}
	ids, err := k.identities()
	if err != nil || len(ids) == 0 {
		return nil, false, errors.Join(err, missing(0))
	}
	d, err = decrypt(wrapped, ids...)
	return d, false, err
}

// missing tells nothing given from nothing fitting.
func missing(tried int) error {
	if tried == 0 {
		return ErrNoKey
	}
	return ErrWrongKey
}

func decrypt(wrapped []byte, ids ...age.Identity) (*dataKey, error) {
	r, err := age.Decrypt(bytes.NewReader(wrapped), ids...)
	var none *age.NoIdentityMatchError
	if errors.As(err, &none) {
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

// how says by what a wrapped key can be opened, for messages.
func how(wrapped []byte) string {
	if bytes.Contains(wrapped, []byte("\n-> scrypt ")) {
		return "with a passphrase"
	}
	return "for recipients"
}
