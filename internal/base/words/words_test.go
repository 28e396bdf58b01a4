package words

import "testing"

func TestCount_HasThePlural(t *testing.T) {
	for n, want := range map[int]string{0: "0 files", 1: "1 file", 2: "2 files", 3000: "3,000 files"} {
		if got := Count(n, "file"); got != want {
			t.Errorf("Count(%d): %q, want %q", n, got, want)
		}
	}
}

func TestList_ShortensAndEscapes(t *testing.T) {
	names := []string{"a", "b\x1b", "c"}
	for most, want := range map[int]string{1: "a and 2 more", 3: `a, b\x1b, c`, 9: `a, b\x1b, c`} {
		if got := List(names, most); got != want {
			t.Errorf("List(%d): %q, want %q", most, got, want)
		}
	}
}

func TestBytes_ChoosesTheUnit(t *testing.T) {
	for n, want := range map[int64]string{12: "12 B", 1536: "1.5 KiB", 3 << 20: "3.0 MiB", 16 << 30: "16.0 GiB"} {
		if got := Bytes(n); got != want {
			t.Errorf("Bytes(%d): %q, want %q", n, got, want)
		}
	}
}

func TestDidYouMean_SuggestsTheNearestName(t *testing.T) {
	names := []string{"apply", "-parallelism", `web["a"]`}
	for wrong, want := range map[string]string{"aply": ` Did you mean "apply"?`, "-par": ` Did you mean "-parallelism"?`, "web[a]": ` Did you mean web["a"]?`, "xyz": ""} {
		if got := DidYouMean(wrong, names); got != want {
			t.Errorf("DidYouMean(%q): %q, want %q", wrong, got, want)
		}
	}
}

func TestNearest_IsEmptyIfNoNameIsSimilar(t *testing.T) {
	names := []string{"zone", "region", "Zone", "id", "a"}
	for wrong, want := range map[string]string{"zonne": "zone", "regoin": "region", "ids": "id", "b": "", "xyzzy": "", "reg": "region", "A": "a", "di": "id", "dx": ""} {
		if got := Nearest(wrong, names); got != want {
			t.Errorf("Nearest(%q): %q, want %q", wrong, got, want)
		}
	}
}

func TestThereAre_ListsInOrder(t *testing.T) {
	for want, names := range map[string][]string{
		"there are none":                              nil,
		"there is only a":                             {"a"},
		"there are a, b and c":                        {"c", "a", "b"},
		"there are 1, 2, 3, 4, 5, 6, 7, 8 and 2 more": {"9", "8", "7", "6", "5", "4", "3", "2", "1", "99"},
	} {
		if got := ThereAre(names); got != want {
			t.Errorf("%q: %q, want %q", names, got, want)
		}
	}
}

func TestParseBytes_ReadsUnits(t *testing.T) {
	for text, want := range map[string]int64{"256MiB": 256 << 20, "1GB": 1e9, "12 KiB": 12 << 10, "7": 7, "7B": 7,
		"": 0, "0": 0, "-1": 0, "many": 0, "1.5MiB": 0, "9999999TiB": 0} {
		if got, err := ParseBytes(text); got != want || (err == nil) != (want > 0) {
			t.Errorf("ParseBytes(%q): %d, %v, want %d", text, got, err, want)
		}
	}
}

func TestShell_QuotesIfNecessary(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"p.bin":           "p.bin",
		"-state=a/b.json": "-state=a/b.json",
		"":                "''",
		"mein plan ü.bin": "'mein plan ü.bin'",
		"$(it's)":         `'$(it'\''s)'`,
		`b["k"]`:          `'b["k"]'`,
	} {
		if got := Shell(word); got != want {
			t.Errorf("%s: got %s, want %s", word, got, want)
		}
	}
}
