package cases

import (
	"encoding/xml"
	"fmt"
	"strings"
	"time"
)

// The elements of JUnit's XML, as CI systems read it.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Time     string       `xml:"time,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Time     string      `xml:"time,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Class   string        `xml:"classname,attr"`
		Name    string        `xml:"name,attr"`
		File    string        `xml:"file,attr"`
		Line    int           `xml:"line,attr"`
		Time    string        `xml:"time,attr"`
		Failure *junitFailure `xml:"failure"`
	}
	junitFailure struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// JUnit returns a report as JUnit's XML: a suite for each file.
func (r Report) JUnit() ([]byte, error) {
	all := junitSuites{Tests: len(r.Results), Failures: r.Failed(), Time: seconds(r.Took)}
	for _, f := range r.Files() {
		suite := junitSuite{Name: f.Name, Tests: len(f.Results), Failures: f.Failed(), Time: seconds(f.Took())}
		for _, one := range f.Results {
			c := junitCase{Class: f.Name, Name: one.Name, File: f.Name, Line: one.Line, Time: seconds(one.Took)}
			if len(one.Failures) > 0 {
				c.Failure = &junitFailure{Message: one.Failures[0], Text: strings.Join(one.Failures, "\n")}
			}
			suite.Cases = append(suite.Cases, c)
		}
		all.Suites = append(all.Suites, suite)
	}
	text, err := xml.MarshalIndent(all, "", "  ")
	return append([]byte(xml.Header), append(text, '\n')...), err
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }
