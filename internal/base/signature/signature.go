package signature

import (
	"bytes"
	"crypto"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/crypto/ssh"
)

// KeyID names a public key: "sha256:" and the hash of its DER form, which
// `openssl pkey -pubin -outform DER | sha256sum` prints too.
type KeyID string

// ID returns the name of a public key.
func ID(key ed25519.PublicKey) KeyID {
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		return "" // an ed25519 key always has a DER form
	}
	sum := sha256.Sum256(der)
	return KeyID("sha256:" + hex.EncodeToString(sum[:]))
}

// ParsePrivate reads the one private key of a file. The errors are sentences
// without a capital letter and a full stop, and never hold a part of the key.
func ParsePrivate(text []byte) (ed25519.PrivateKey, error) {
	if block, _ := pem.Decode(text); block == nil {
		return nil, errors.New("it is not a private key, which begins with -----BEGIN PRIVATE KEY----- or -----BEGIN OPENSSH PRIVATE " +
			"KEY-----")
	} else if block.Type == "PUBLIC KEY" {
		return nil, errors.New("it is a public key; signing needs the private one")
	} else if block.Type == "ENCRYPTED PRIVATE KEY" {
		return nil, errors.New("it is locked with a passphrase, for which there is no prompt: give an unlocked copy, for example " +
			"through /dev/stdin")
	}
	key, err := ssh.ParseRawPrivateKey(text)
	if _, ok := errors.AsType[*ssh.PassphraseMissingError](err); ok {
		return nil, errors.New("it is locked with a passphrase, for which there is no prompt: give an unlocked copy, for example " +
			"through /dev/stdin")
	} else if err != nil {
		return nil, errors.New("it is not a readable private key")
	}
	switch key := key.(type) {
	case ed25519.PrivateKey:
		return key, nil
	case *ed25519.PrivateKey:
		return *key, nil
	}
	return nil, errors.New("it is a key of another kind, and plans are signed with ed25519 keys: `openssl genpkey -algorithm ed25519` " +
		"creates one")
}

// ParsePublic reads the public keys of a file, at least one: PEM blocks, or lines of an
// authorized_keys file. The errors have the form of ParsePrivate's.
func ParsePublic(text []byte) ([]ed25519.PublicKey, error) {
	read := parseLines
	if bytes.Contains(text, []byte("-----BEGIN ")) {
		read = parseBlocks
	}
	keys, err := read(text)
	if err != nil {
		return nil, err
	}
	list := make([]ed25519.PublicKey, len(keys))
	for i, key := range keys {
		var ok bool
		if list[i], ok = key.(ed25519.PublicKey); !ok {
			return nil, fmt.Errorf("key %d in it is of another kind than ed25519", i+1)
		}
	}
	return list, nil
}

func parseBlocks(text []byte) ([]crypto.PublicKey, error) {
	var keys []crypto.PublicKey
	for rest := text; ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			if len(keys) == 0 || len(bytes.TrimSpace(rest)) > 0 {
				return nil, errors.New("it is damaged: part of it is not a public key in PEM")
			}
			return keys, nil
		}
		if block.Type != "PUBLIC KEY" {
			return nil, fmt.Errorf("it holds a %s, and only public keys belong there: `openssl pkey -in FILE -pubout` prints one",
				block.Type)
		}
		key, err := x509.ParsePKIXPublicKey(block.Bytes)
		if err != nil {
			return nil, errors.New("it is damaged: a public key in it cannot be read")
		}
		keys = append(keys, key)
	}
}

func parseLines(text []byte) ([]crypto.PublicKey, error) {
	var keys []crypto.PublicKey
	for rest := text; len(bytes.TrimSpace(rest)) > 0; {
		key, _, _, more, err := ssh.ParseAuthorizedKey(rest)
		if err != nil {
			break
		}
		crypted, ok := key.(ssh.CryptoPublicKey)
		if !ok {
			return nil, fmt.Errorf("it holds a key of the kind %s", key.Type())
		}
		keys, rest = append(keys, crypted.CryptoPublicKey()), more
	}
	if len(keys) == 0 {
		return nil, errors.New("it is not a public key, which begins with -----BEGIN PUBLIC KEY----- or ssh-ed25519")
	}
	return keys, nil
}

// Trusts reports whether a list contains a key.
func Trusts(list []ed25519.PublicKey, key ed25519.PublicKey) bool {
	return slices.ContainsFunc(list, func(k ed25519.PublicKey) bool { return k.Equal(key) })
}
