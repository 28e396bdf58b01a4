package jinja

import "testing"

// The parser gives a tree or an error for every text, and never fails otherwise.
func FuzzTemplate(f *testing.F) {
	for _, text := range []string{
		"{{ a.b[1:-2]|d('x', true) is not none }}", "{% for a, (b) in c if d recursive %}{{ loop }}{% else %}{% endfor %}",
		"{%- set x = {'a': (1, 2,)} -%}{# c -#}", "{% raw %}{{{% endraw -%}", "{{ 'a\\u00e9\\x4' ~ 1_0.5e3 // -2 ** not x }}",
		"{% include ['a'] ignore missing with context %}",
		"{% if a %}{% elif b %}{% else %}{% endif %}", "{{ f(*a, **b, c=1)(2) }}", "{{ a if b if c else d }}",
		"{{ [[[[(((({{{{",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		body, err := Template(text)
		if err != nil {
			e, ok := err.(*Error)
			if !ok || e.Line < 1 || e.What == "" || body != nil {
				t.Errorf("%v", err)
			}
		}
		if x, err := Expression(text); (x == nil) == (err == nil) {
			t.Errorf("%v, %v", x, err)
		}
	})
}
