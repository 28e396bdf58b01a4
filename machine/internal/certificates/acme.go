package certificates

import (
	"bytes"
	"context"
	"crypto"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"golang.org/x/crypto/acme"

	"deployster/machine/internal/replace"
)

// accounts is where the keys of accounts at servers of ACME are, which root alone can read.
const accounts = "/etc/deployster-certificates"

// orderTime is how long an order may take.
const orderTime = 5 * time.Minute

// order has a server of ACME sign a certificate: it writes a file for each name, and the server reads it.
func (k Certificate) order(ctx context.Context, c *call, key crypto.Signer) ([]byte, error) {
	ctx, stop := context.WithTimeoutCause(ctx, orderTime, fmt.Errorf("the server of ACME did not sign within %s", orderTime))
	defer stop()
	client, err := k.client(ctx, c.Config)
	if err != nil {
		return nil, err
	}
	account := &acme.Account{}
	if c.Config.Email != "" {
		account.Contact = []string{"mailto:" + c.Config.Email}
	}
	if _, err := client.Register(ctx, account, acme.AcceptTOS); err != nil && !errors.Is(err, acme.ErrAccountAlreadyExists) {
		return nil, fmt.Errorf("the server of ACME does not make an account: %w", err)
	}
	names := c.Config.names()
	dns, ips := split(names)
	var wanted []acme.AuthzID
	wanted = append(wanted, acme.DomainIDs(dns...)...)
	for _, ip := range ips {
		wanted = append(wanted, acme.IPIDs(ip.String())...)
	}
	order, err := client.AuthorizeOrder(ctx, wanted)
	if err != nil {
		return nil, fmt.Errorf("the server of ACME does not accept the order of %s: %w", strings.Join(names, ", "), err)
	}
	for _, url := range order.AuthzURLs {
		if err := k.authorize(ctx, c, client, url); err != nil {
			return nil, err
		}
	}
	place := order.URI
	if order, err = client.WaitOrder(ctx, place); err != nil {
		return nil, fmt.Errorf("the order at the server of ACME failed: %w", err)
	}
	subject := pkix.Name{}
	if len(dns) > 0 {
		subject.CommonName = dns[0]
		for _, name := range dns {
			if name == normal(c.Config.CommonName) {
				subject.CommonName = name
			}
		}
	}
	request, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: subject, DNSNames: dns, IPAddresses: ips},
		key)
	if err != nil {
		return nil, err
	}
	chain, _, err := client.CreateOrderCert(ctx, order.FinalizeURL, request, true)
	if err != nil { // a server that signs later may leave out where the order is, which the library then does not find
		if order, waited := client.WaitOrder(ctx, place); waited == nil && order.Status == acme.StatusValid {
			chain, err = client.FetchCert(ctx, order.CertURL, true)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("the server of ACME does not sign: %w", err)
	}
	var b bytes.Buffer
	for _, raw := range chain {
		if err := pem.Encode(&b, &pem.Block{Type: "CERTIFICATE", Bytes: raw}); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

// authorize shows the server that a name is this machine's.
func (k Certificate) authorize(ctx context.Context, c *call, client *acme.Client, url string) error {
	z, err := client.GetAuthorization(ctx, url)
	if err != nil || z.Status == acme.StatusValid {
		return err
	}
	for _, challenge := range z.Challenges {
		if challenge.Type != "http-01" {
			continue
		}
		answer, err := client.HTTP01ChallengeResponse(challenge.Token)
		if err != nil {
			return err
		}
		remove, err := k.show(c.Config.Webroot, client.HTTP01ChallengePath(challenge.Token), answer)
		if err != nil {
			return err
		}
		defer remove()
		c.Logf("%s reads http://%s%s", c.Config.Issuer, z.Identifier.Value, client.HTTP01ChallengePath(challenge.Token))
		if _, err = client.Accept(ctx, challenge); err == nil {
			_, err = client.WaitAuthorization(ctx, z.URI)
		}
		if err != nil {
			return fmt.Errorf("the server of ACME could not read the file of %s: does its web server show %s, and can the server reach "+
				"it? %w",
				z.Identifier.Value, c.Config.Webroot, err)
		}
		return nil
	}
	return fmt.Errorf("the server of ACME does not offer http-01 for %s", z.Identifier.Value)
}

// show writes a file for the web server, and returns what removes it. The directory may belong to a user: no link in it
// leads out of it.
func (k Certificate) show(webroot, path, text string) (remove func(), err error) {
	root, err := os.OpenRoot(k.machine.Path(webroot))
	if err != nil {
		return nil, fmt.Errorf("the webroot cannot be used: %w", err)
	}
	name := strings.TrimPrefix(path, "/")
	directory := name[:strings.LastIndex(name, "/")]
	err = root.MkdirAll(directory, 0o755)
	if err == nil {
		err = root.WriteFile(name, []byte(text), 0o644)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("the file for the server of ACME cannot be written: %w", err), root.Close())
	}
	return func() {
		_ = root.Remove(name) // a file that stays has no secret
		_ = root.Close()
	}, nil
}

// client returns a client with the key of the account, which is made the first time.
func (k Certificate) client(ctx context.Context, c Config) (*acme.Client, error) {
	if err := os.MkdirAll(k.machine.Path(accounts), 0o700); err != nil {
		return nil, err
	}
	url := sha256.Sum256([]byte(c.Issuer))
	path := accounts + "/" + hex.EncodeToString(url[:8]) + ".key"
	unlock, err := replace.Lock(ctx, k.machine, path)
	if err != nil {
		return nil, err
	}
	defer unlock()
	key, err := k.key(path)
	if err != nil {
		return nil, err
	}
	if key == nil {
		var text []byte
		if key, text, err = newKey("ecdsa-p256"); err != nil {
			return nil, err
		}
		mode := modes["/key_path"]
		if err := replace.File(ctx, k.machine, path, replace.Change{Content: bytes.NewReader(text), Mode: &mode}); err != nil {
			return nil, err
		}
	}
	trusted, err := k.trusted(c.ServerCA)
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, TLSClientConfig: &tls.Config{RootCAs: trusted},
		DialContext: (&net.Dialer{Timeout: 20 * time.Second}).DialContext, DisableKeepAlives: true}
	return &acme.Client{Key: key, DirectoryURL: c.Issuer, UserAgent: "deployster", HTTPClient: &http.Client{Transport: transport,
		Timeout: time.Minute}}, nil
}

// trusted returns the authorities of the server; nil = those of the machine.
func (k Certificate) trusted(path string) (*x509.CertPool, error) {
	if path == "" {
		return nil, nil
	}
	list, err := k.certificates(path)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("there is no certificate in %s: correct /server_ca", path)
	}
	pool := x509.NewCertPool()
	for _, one := range list {
		pool.AddCert(one)
	}
	return pool, nil
}
