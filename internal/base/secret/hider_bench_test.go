package secret

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
)

// benchSecrets are passwords with and without characters that encoders escape.
func benchSecrets(n int) (list []string) {
	for i := range n {
		list = append(list, fmt.Sprintf("%c%d-Pass<word>&%d/x y", 'a'+i%26, i*7919, i))
	}
	return list
}

// benchLog is a log of 1 MiB: text, addresses, base64 and hexadecimal, one secret in 200 lines.
func benchLog(secrets []string) string {
	var b strings.Builder
	for i := 0; b.Len() < 1<<20; i++ {
		fmt.Fprintf(&b, "2026-11-27T18:00:%02dZ level=info msg=\"object %d is ready\" url=https://example.org/v1/objects/%d?page=%d etag=%x\n",
			i%60, i, i, i%7, i*2654435761)
		if i%20 == 0 {
			fmt.Fprintf(&b, "data: %s\n", base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "a certificate of %d, which is public, of some length", i)))
		}
		if i%200 == 0 && len(secrets) > 0 {
			fmt.Fprintf(&b, "login with %s\n", secrets[i/200%len(secrets)])
		}
	}
	return b.String()
}

func BenchmarkHider(b *testing.B) {
	for _, n := range []int{1, 50, 1000} {
		secrets := benchSecrets(n)
		text := benchLog(secrets)
		hider := NewHider(secrets)
		b.Run(fmt.Sprintf("text/%d", n), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for range b.N {
				hider.Hide(text)
			}
		})
		lines := strings.Split(text, "\n")
		b.Run(fmt.Sprintf("lines/%d", n), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for range b.N {
				for _, line := range lines {
					hider.Hide(line)
				}
			}
		})
		b.Run(fmt.Sprintf("new/%d", n), func(b *testing.B) {
			for range b.N {
				NewHider(secrets)
			}
		})
	}
}
