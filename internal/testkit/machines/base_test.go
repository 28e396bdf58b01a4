package machines

import "testing"

func TestMirror_IsThatOfTheSuite(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Types: deb\n# comment\nURIs: http://a.example/debian http://b.example/debian\nSuites: bookworm " +
			"bookworm-updates\n": "http://a.example/debian",
		"Types: deb\nURIs: http://node.example\nSuites: nodistro\n\nTypes: deb\nURIs: http://c.example\nSuites: bookworm\n": "http://c.example",
		"deb http://cloud.example/apt cloud-sdk-bookworm main\ndeb http://d.example/debian bookworm " +
			"main\n": "http://d.example/debian",
		"deb http://g.example/debian trixie main\n":                       "http://g.example/debian",
		"Types: deb\nURIs: http://e.example\nSuites: bookworm-security\n": "",
		"# deb http://f.example/debian bookworm main\n":                   "",
	} {
		if got := mirrorIn(text); got != want {
			t.Errorf("%q: %q, and must be %q", text, got, want)
		}
	}
}
