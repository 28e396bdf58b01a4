package apt

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"deployster/machine/internal/deb822"
	"deployster/machine/internal/openpgp"
	"deployster/protocol"
)

const (
	// keyComment begins the line of a source's file that has the checksums of the key that was fetched, and of its text in the file.
	keyComment = "# The key was fetched: sha256 "
	never      = "never"
	maxKey     = 1 << 20
	keyTimeout = time.Minute
)

func sum(text string) string {
	s := sha256.Sum256([]byte(text))
	return hex.EncodeToString(s[:])
}

// checkKey returns an error for a key that is not one.
func (k Source) checkKey(c *sourceCall) error {
	key := strings.TrimSpace(c.Config.Key)
	given := func(name string, value string) bool { return value != "" || c.IsUnknown("/"+name) }
	switch {
	case given("key", key) && given("key_url", c.Config.KeyURL):
		return protocol.Errorf(protocol.ConfigError, "/key_url", "key and key_url exclude each other: give one of them")
	case given("key_url", c.Config.KeyURL) != given("key_sha256", c.Config.KeySHA256):
		return protocol.Errorf(protocol.ConfigError, "/key_sha256",
			"key_url and key_sha256 belong together: the checksum identifies the key")
	case key == "" || c.IsUnknown("/key"):
		return nil
	case strings.HasPrefix(key, "/"):
		if strings.ContainsAny(key, " \n") {
			return protocol.Errorf(protocol.ConfigError, "/key", "%q is not the path of one keyring", key)
		}
		return nil
	case !strings.HasPrefix(key, openpgp.Header):
		return protocol.Errorf(protocol.ConfigError, "/key", "this is neither the text of a key, which begins with %s, nor a path",
			openpgp.Header)
	}
	if _, err := openpgp.Ends(key); err != nil {
		return protocol.Errorf(protocol.ConfigError, "/key", "the text of the key is not valid: %s", err)
	}
	return nil
}

// keyIn returns the key that the config means, as far as it needs no network: known is false if it
// has to be fetched.
func (k Source) keyIn(c *sourceCall, have *SourceState) (block string, known bool) {
	if c.Config.KeyURL == "" {
		return strings.TrimSpace(c.Config.Key), true
	}
	first, _, _ := strings.Cut(have.text, "\n")
	block = deb822.First(have.text)["Signed-By"]
	return block, first == keyComment+c.Config.KeySHA256+" "+sum(block)
}

// key returns the key that the config means, and fetches it if need be.
func (k Source) key(ctx context.Context, c *sourceCall) (string, error) {
	if c.Config.KeyURL == "" {
		return strings.TrimSpace(c.Config.Key), nil
	}
	ctx, cancel := context.WithTimeout(ctx, keyTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.Config.KeyURL, nil)
	if err != nil {
		return "", err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", fmt.Errorf("the key cannot be fetched: %w", err)
	}
	defer func() { _ = answer.Body.Close() }()
	data, err := io.ReadAll(io.LimitReader(answer.Body, maxKey))
	switch {
	case err != nil:
		return "", fmt.Errorf("the key cannot be fetched from %s: %w", c.Config.KeyURL, err)
	case answer.StatusCode != http.StatusOK:
		return "", fmt.Errorf("the key cannot be fetched from %s: %s", c.Config.KeyURL, answer.Status)
	case sum(string(data)) != c.Config.KeySHA256:
		return "", fmt.Errorf("what is at %s has the checksum %s, and key_sha256 is %s: it is not used", c.Config.KeyURL,
			sum(string(data)), c.Config.KeySHA256)
	}
	return openpgp.Armoured(data)
}

// expiry returns the first day on which a key cannot be used any more, the last one of several keys;
// "" = the text is not a key, or is a path.
func expiry(block string) string {
	ends, err := openpgp.Ends(block)
	if err != nil {
		return ""
	}
	last := ""
	for _, end := range ends {
		if end.IsZero() {
			return never
		}
		last = max(last, end.UTC().Format(time.DateOnly))
	}
	return last
}
