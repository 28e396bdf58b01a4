package source

import (
	"strings"

	"deployster/internal/base/cosign"
	"deployster/internal/runtime/runner"
)

// VerifyKey sets a public key, from the text or from a file, which it reads as file()
// does, so that a saved plan includes it.
func VerifyKey(files *Reader, text string, into *runner.Verify) error {
	into.KeyName = "the key in the manifest"
	into.Keys = []byte(text)
	if !strings.Contains(text, "-----BEGIN") {
		content, err := files.Read(text)
		if err != nil {
			return err
		}
		into.KeyName, into.Keys = text, content
	}
	_, err := cosign.ParseKeys(into.Keys)
	return err
}
