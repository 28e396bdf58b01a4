package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	_ "golang.org/x/crypto/x509roots/fallback" // the image has no certificates of its own
)

// post sends a JSON document. Errors do not show the URL, which is a secret of most services.
func post(ctx context.Context, target string, headers map[string]string, authority string, body any) error {
	content, err := json.Marshal(body)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, target, bytes.NewReader(content))
	if err != nil || request.URL.Host == "" || request.URL.Scheme != "http" && request.URL.Scheme != "https" {
		return errors.New("config.url is not a URL: write https://HOST/PATH")
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "deployster")
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	pool, err := trusted(authority)
	if err != nil {
		return err
	}
	client := &http.Client{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true,
		TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}}
	answer, err := client.Do(request)
	if wrong, ok := errors.AsType[*url.Error](err); ok {
		err = wrong.Err // the rest is the URL
	}
	if err != nil {
		return fmt.Errorf("%s did not answer: %w", request.URL.Host, err)
	}
	defer answer.Body.Close()
	said, _ := io.ReadAll(io.LimitReader(answer.Body, 500)) // it only helps to understand
	if answer.StatusCode/100 != 2 {
		return fmt.Errorf("%s answered %s: %s", request.URL.Host, answer.Status, strings.TrimSpace(string(said)))
	}
	return nil
}

// trusted returns the authorities that certificates may be of: those of a PEM text, or the usual ones for "".
func trusted(authority string) (*x509.CertPool, error) {
	if authority == "" {
		return nil, nil
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM([]byte(authority)) {
		return nil, errors.New("config.ca has no certificate: it is the PEM text of an authority, as of file(\"ca.pem\")")
	}
	return pool, nil
}

type webhookConfig struct {
	URL     string            `json:"url" doc:"the URL that receives the JSON, by POST" writeOnly:"true" minLength:"1"`
	Headers map[string]string `json:"headers,omitempty" doc:"further headers, such as Authorization" writeOnly:"true"`
	CA      string            `json:"ca,omitempty" doc:"the PEM text of the authority of the server's certificate"`
}

// sendWebhook posts the event and its summary.
func sendWebhook(ctx context.Context, in message) error {
	var c webhookConfig
	if err := json.Unmarshal(in.Config, &c); err != nil {
		return err
	}
	return post(ctx, c.URL, c.Headers, c.CA, map[string]any{"name": in.Name, "summary": in.Summary, "event": in.Event})
}

type slackConfig struct {
	URL      string `json:"url" doc:"URL of an incoming webhook of Slack, or of one for its JSON" writeOnly:"true" minLength:"1"`
	Channel  string `json:"channel,omitempty" doc:"another channel than that of the webhook"`
	Username string `json:"username,omitempty" doc:"the name that is shown as the sender"`
	CA       string `json:"ca,omitempty" doc:"the PEM text of the authority of the server's certificate"`
}

// maxText is how many characters of a text Slack shows well.
const maxText = 4000

// sendSlack posts the summary as a text.
func sendSlack(ctx context.Context, in message) error {
	var c slackConfig
	if err := json.Unmarshal(in.Config, &c); err != nil {
		return err
	}
	text := []rune(in.Summary)
	if len(text) > maxText {
		text = append(text[:maxText], '…')
	}
	body := map[string]string{"text": strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(string(text))}
	for name, value := range map[string]string{"channel": c.Channel, "username": c.Username} {
		if value != "" {
			body[name] = value
		}
	}
	return post(ctx, c.URL, nil, c.CA, body)
}
