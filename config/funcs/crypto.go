package funcs

import (
	"crypto/rsa"
	"fmt"

	"github.com/google/uuid"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"golang.org/x/crypto/ssh"
)

func cryptoFunctions() map[string]function.Function {
	return map[string]function.Function{
		"rsadecrypt": define(cty.String, []function.Parameter{param("ciphertext", cty.String), param("privatekey", cty.String)},
			rsaDecrypt),
		"uuidv5": define(cty.String, []function.Parameter{param("namespace", cty.String), param("name", cty.String)}, uuidV5),
	}
}

// The limits on the key of rsadecrypt: the time grows with the third power of its bits.
const (
	maxKeyText = 32 << 10 // bytes of its PEM form
	maxKeyBits = 8192
)

func rsaDecrypt(args []cty.Value) (cty.Value, error) {
	data, err := base64Bytes(args[0].AsString())
	if err != nil {
		return cty.NilVal, function.NewArgError(0, err)
	}
	text := args[1].AsString()
	if len(text) > maxKeyText {
		return cty.NilVal, function.NewArgErrorf(1, "it has more than %d bytes", maxKeyText)
	}
	// The error of the library is not included: it might quote the key.
	raw, err := ssh.ParseRawPrivateKey([]byte(text))
	if err != nil {
		return cty.NilVal, function.NewArgErrorf(1, "it is not a private key in PEM without a password")
	}
	key, ok := raw.(*rsa.PrivateKey)
	switch {
	case !ok:
		return cty.NilVal, function.NewArgErrorf(1, "it is a private key of another kind than RSA")
	case key.N.BitLen() > maxKeyBits:
		return cty.NilVal, function.NewArgErrorf(1, "it has more than %d bits", maxKeyBits)
	}
	//lint:ignore SA1019 It is what the function is for: passwords that clouds encrypt so. Nobody can call it often.
	plain, err := decoded(rsa.DecryptPKCS1v15(nil, key, data))
	if err != nil {
		return cty.NilVal, function.NewArgErrorf(0, "it cannot be decrypted with this key")
	}
	return cty.StringVal(plain), nil
}

func uuidV5(args []cty.Value) (cty.Value, error) {
	name := args[0].AsString()
	space, known := map[string]uuid.UUID{"dns": uuid.NameSpaceDNS, "url": uuid.NameSpaceURL, "oid": uuid.NameSpaceOID,
		"x500": uuid.NameSpaceX500}[name]
	if !known {
		var err error
		if space, err = uuid.Parse(name); err != nil {
			return cty.NilVal, function.NewArgError(0, fmt.Errorf("it must be dns, url, oid, x500 or a UUID"))
		}
	}
	return cty.StringVal(uuid.NewSHA1(space, []byte(args[1].AsString())).String()), nil
}
