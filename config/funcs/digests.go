package funcs

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"hash"

	"github.com/zclconf/go-cty/cty/function"
)

// digest is a hash function with its name and the encoding of its sum.
type digest struct {
	name  string
	new   func() hash.Hash
	write func([]byte) string
}

func digests() []digest {
	return []digest{
		{"md5", md5.New, hex.EncodeToString}, {"sha1", sha1.New, hex.EncodeToString},
		{"sha256", sha256.New, hex.EncodeToString}, {"sha512", sha512.New, hex.EncodeToString},
		{"base64sha256", sha256.New, base64.StdEncoding.EncodeToString}, {"base64sha512", sha512.New, base64.StdEncoding.EncodeToString},
	}
}

func (d digest) text(data []byte) string {
	h := d.new()
	h.Write(data)
	return d.write(h.Sum(nil))
}

func digestFunctions() map[string]function.Function {
	all := map[string]function.Function{}
	for _, d := range digests() {
		all[d.name] = onText(func(s string) (string, error) { return d.text([]byte(s)), nil })
	}
	return all
}
