// Drives cloudflare-go through all that the simulator serves: the arguments are those of course.Place, and the
// result or the error of every step is printed as one JSON object by name.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	cloudflare "github.com/cloudflare/cloudflare-go"
)

const (
	bucket     = "s3://logs/client?region=us-east-1"
	posted     = "https://logs.example/push?header_Authorization=Basic%20c2VjcmV0"
	expression = `(http.host eq "shop.example")`
	phase      = "http_log_custom_fields"
)

type course struct {
	steps map[string]any
	api   *cloudflare.API
	ctx   context.Context
	zone  string
	// Where the customer finds what lies in the buckets.
	buckets string
	account string
}

// step runs one step and keeps its outcome; what goes wrong is kept, and the next step follows.
func step[T any](c *course, name string, run func() (T, error)) T {
	if _, twice := c.steps[name]; twice {
		panic("the step " + name + " is taken twice")
	}
	result, err := run()
	if err != nil {
		c.steps[name] = map[string]string{"error": err.Error()}
	} else {
		c.steps[name] = map[string]any{"result": result}
	}
	return result
}

// done is a step of a call that answers nothing but its success.
func done(c *course, name string, run func() error) {
	step(c, name, func() (bool, error) { return true, run() })
}

func (c *course) container() *cloudflare.ResourceContainer { return cloudflare.ZoneIdentifier(c.zone) }

func (c *course) zones() {
	step(c, "user", func() (cloudflare.User, error) { return c.api.UserDetails(c.ctx) })
	step(c, "token", func() (cloudflare.APITokenVerifyBody, error) { return c.api.VerifyAPIToken(c.ctx) })
	step(c, "accounts", func() ([]cloudflare.Account, error) {
		found, _, err := c.api.Accounts(c.ctx, cloudflare.AccountsListParams{})
		return found, err
	})
	step(c, "account", func() (cloudflare.Account, error) {
		found, _, err := c.api.Account(c.ctx, c.account)
		return found, err
	})
	step(c, "zones", func() ([]string, error) {
		found, err := c.api.ListZones(c.ctx)
		names := []string{}
		for _, zone := range found {
			names = append(names, zone.Name)
		}
		return names, err
	})
	step(c, "zone", func() (cloudflare.Zone, error) { return c.api.ZoneDetails(c.ctx, c.zone) })
	step(c, "settings", func() ([]cloudflare.ZoneSetting, error) {
		found, err := c.api.ZoneSettings(c.ctx, c.zone)
		if err != nil {
			return nil, err
		}
		return found.Result, nil
	})
	step(c, "settings edited", func() (any, error) {
		items := []cloudflare.ZoneSetting{{ID: "always_online", Value: "on"}}
		return c.api.UpdateZoneSettings(c.ctx, c.zone, items)
	})
	step(c, "setting edited", func() (any, error) {
		return c.api.UpdateZoneSingleSetting(c.ctx, c.zone, "always_use_https", cloudflare.ZoneSetting{Value: "on"})
	})
	step(c, "setting", func() (any, error) { return c.api.ZoneSingleSetting(c.ctx, c.zone, "always_use_https") })
	step(c, "setting waf edited", func() (any, error) {
		return c.api.UpdateZoneSingleSetting(c.ctx, c.zone, "waf", cloudflare.ZoneSetting{Value: "on"})
	})
	step(c, "setting waf", func() (any, error) { return c.api.ZoneSingleSetting(c.ctx, c.zone, "waf") })
}

func logRule() cloudflare.RulesetRule {
	return cloudflare.RulesetRule{
		Action: "log_custom_field", Expression: "true", Description: "fields", Enabled: true,
		ActionParameters: &cloudflare.RulesetRuleActionParameters{
			RequestFields: []cloudflare.RulesetActionParametersLogCustomField{{Name: "x-request-id"}},
		},
	}
}

func (c *course) rulesets() {
	// Rules that are not given are sent as null.
	made := step(c, "ruleset made", func() (cloudflare.Ruleset, error) {
		return c.api.CreateZoneRuleset(c.ctx, c.zone, cloudflare.Ruleset{Name: "fields", Kind: "zone", Phase: phase})
	})
	step(c, "ruleset filled", func() (cloudflare.Ruleset, error) {
		rule := logRule()
		rule.Ref = "mine"
		return c.api.UpdateZoneRuleset(c.ctx, c.zone, made.ID, "d", []cloudflare.RulesetRule{rule})
	})
	read := step(c, "phase", func() (cloudflare.Ruleset, error) { return c.api.GetZoneRulesetPhase(c.ctx, c.zone, phase) })
	// What was read is sent back whole, with versions and moments.
	step(c, "phase filled", func() (cloudflare.Ruleset, error) {
		return c.api.UpdateZoneRulesetPhase(c.ctx, c.zone, phase, read)
	})
	step(c, "rulesets", func() ([]string, error) {
		found, err := c.api.ListZoneRulesets(c.ctx, c.zone)
		phases := []string{}
		for _, one := range found {
			phases = append(phases, one.Phase)
		}
		return phases, err
	})
	step(c, "ruleset", func() (cloudflare.Ruleset, error) { return c.api.GetZoneRuleset(c.ctx, c.zone, made.ID) })
	done(c, "ruleset gone", func() error { return c.api.DeleteZoneRuleset(c.ctx, c.zone, made.ID) })
}

func (c *course) logs() {
	asked := step(c, "ownership", func() (*cloudflare.LogpushGetOwnershipChallenge, error) {
		return c.api.GetZoneLogpushOwnershipChallenge(c.ctx, c.zone, bucket)
	})
	challenge := ""
	if asked != nil {
		content, err := os.ReadFile(filepath.Join(c.buckets, "s3", "logs", asked.Filename))
		if err != nil {
			panic(err)
		}
		challenge = string(content)
	}
	step(c, "ownership valid", func() (bool, error) {
		return c.api.ValidateZoneLogpushOwnershipChallenge(c.ctx, c.zone, bucket, challenge)
	})
	step(c, "destination new", func() (bool, error) {
		return c.api.CheckZoneLogpushDestinationExists(c.ctx, c.zone, bucket)
	})
	filter := &cloudflare.LogpushJobFilters{
		Where: cloudflare.LogpushJobFilter{Key: "ClientRequestHost", Operator: cloudflare.Equal, Value: "shop.example"},
	}
	job := step(c, "job made", func() (*cloudflare.LogpushJob, error) {
		return c.api.CreateZoneLogpushJob(c.ctx, c.zone, cloudflare.LogpushJob{
			Name: "mine", Dataset: "http_requests", DestinationConf: bucket, OwnershipChallenge: challenge,
			LogpullOptions: "fields=RayID,Cookies&timestamps=rfc3339", Filter: filter,
		})
	})
	if job == nil {
		return
	}
	// An update always has the job's id and dataset in it.
	done(c, "job sent back", func() error {
		whole := *job
		whole.Enabled = true
		return c.api.UpdateZoneLogpushJob(c.ctx, c.zone, job.ID, whole)
	})
	step(c, "job", func() (cloudflare.LogpushJob, error) { return c.api.GetZoneLogpushJob(c.ctx, c.zone, job.ID) })
	other := step(c, "second job made", func() (*cloudflare.LogpushJob, error) {
		return c.api.CreateZoneLogpushJob(c.ctx, c.zone, cloudflare.LogpushJob{Dataset: "dns_logs", DestinationConf: posted})
	})
	step(c, "jobs", func() ([]string, error) { return datasets(c.api.ListZoneLogpushJobs(c.ctx, c.zone)) })
	step(c, "dataset jobs", func() ([]string, error) {
		return datasets(c.api.ListZoneLogpushJobsForDataset(c.ctx, c.zone, "dns_logs"))
	})
	step(c, "dataset fields", func() (cloudflare.LogpushFields, error) {
		return c.api.GetZoneLogpushFields(c.ctx, c.zone, "http_requests")
	})
	step(c, "destination there", func() (bool, error) {
		return c.api.CheckZoneLogpushDestinationExists(c.ctx, c.zone, bucket)
	})
	done(c, "job gone", func() error { return c.api.DeleteZoneLogpushJob(c.ctx, c.zone, job.ID) })
	if other != nil {
		done(c, "second job gone", func() error { return c.api.DeleteZoneLogpushJob(c.ctx, c.zone, other.ID) })
	}
	step(c, "jobs left", func() (int, error) {
		left, err := c.api.ListZoneLogpushJobs(c.ctx, c.zone)
		return len(left), err
	})
}

func datasets(jobs []cloudflare.LogpushJob, err error) ([]string, error) {
	found := []string{}
	for _, job := range jobs {
		found = append(found, job.Dataset)
	}
	return found, err
}

func (c *course) firewall() {
	zone := c.container()
	filters := step(c, "filters made", func() ([]cloudflare.Filter, error) {
		return c.api.CreateFilters(c.ctx, zone, []cloudflare.FilterCreateParams{{Expression: expression}})
	})
	if len(filters) == 0 {
		return
	}
	id := filters[0].ID
	done(c, "expression valid", func() error { return c.api.ValidateFilterExpression(c.ctx, "ssl") })
	changed := cloudflare.FilterUpdateParams{ID: id, Expression: "ssl", Description: "d"}
	step(c, "filter changed", func() (cloudflare.Filter, error) { return c.api.UpdateFilter(c.ctx, zone, changed) })
	step(c, "filters changed", func() ([]cloudflare.Filter, error) {
		return c.api.UpdateFilters(c.ctx, zone, []cloudflare.FilterUpdateParams{changed})
	})
	step(c, "filter", func() (cloudflare.Filter, error) { return c.api.Filter(c.ctx, zone, id) })
	// A filter that is named by its id is sent with an empty expression.
	named := cloudflare.Filter{ID: id}
	rules := step(c, "rules made", func() ([]cloudflare.FirewallRule, error) {
		return c.api.CreateFirewallRules(c.ctx, zone, []cloudflare.FirewallRuleCreateParams{{Action: "block", Filter: named}})
	})
	if len(rules) == 0 {
		return
	}
	rule := rules[0].ID
	step(c, "rule", func() (cloudflare.FirewallRule, error) { return c.api.FirewallRule(c.ctx, zone, rule) })
	step(c, "rule changed", func() (cloudflare.FirewallRule, error) {
		return c.api.UpdateFirewallRule(c.ctx, zone, cloudflare.FirewallRuleUpdateParams{ID: rule, Action: "log", Filter: named})
	})
	step(c, "rules changed", func() ([]cloudflare.FirewallRule, error) {
		return c.api.UpdateFirewallRules(c.ctx, zone, []cloudflare.FirewallRuleUpdateParams{
			{ID: rule, Action: "bypass", Products: []string{"waf"}, Description: "many", Filter: named},
		})
	})
	step(c, "rules", func() ([]cloudflare.FirewallRule, error) {
		found, _, err := c.api.FirewallRules(c.ctx, zone, cloudflare.FirewallRuleListParams{})
		return found, err
	})
	done(c, "rule gone", func() error { return c.api.DeleteFirewallRule(c.ctx, zone, rule) })
	step(c, "filters", func() ([]bool, error) {
		found, _, err := c.api.Filters(c.ctx, zone, cloudflare.FilterListParams{})
		same := []bool{}
		for _, one := range found {
			same = append(same, one.ID == id)
		}
		return same, err
	})
	done(c, "filter gone", func() error { return c.api.DeleteFilter(c.ctx, zone, id) })
	more := step(c, "more rules made", func() ([]cloudflare.FirewallRule, error) {
		sent := cloudflare.FirewallRuleCreateParams{Action: "block", Filter: cloudflare.Filter{Expression: expression}}
		return c.api.CreateFirewallRules(c.ctx, zone, []cloudflare.FirewallRuleCreateParams{sent, sent})
	})
	ids, left := []string{}, []string{}
	for _, one := range more {
		ids, left = append(ids, one.ID), append(left, one.Filter.ID)
	}
	done(c, "rules gone", func() error { return c.api.DeleteFirewallRules(c.ctx, zone, ids) })
	done(c, "filters gone", func() error { return c.api.DeleteFilters(c.ctx, zone, left) })
}

func (c *course) pageRules() {
	target := cloudflare.PageRuleTarget{Target: "url"}
	target.Constraint.Operator, target.Constraint.Value = "matches", "*shop.example/a*"
	sent := cloudflare.PageRule{
		Targets: []cloudflare.PageRuleTarget{target}, Priority: 2, Status: "active",
		Actions: []cloudflare.PageRuleAction{{ID: "waf", Value: "off"}},
	}
	made := step(c, "page rule made", func() (*cloudflare.PageRule, error) { return c.api.CreatePageRule(c.ctx, c.zone, sent) })
	if made == nil {
		return
	}
	done(c, "page rule changed", func() error {
		changed := *made
		changed.Status = "disabled"
		return c.api.UpdatePageRule(c.ctx, c.zone, made.ID, changed)
	})
	done(c, "page rule edited", func() error { return c.api.ChangePageRule(c.ctx, c.zone, made.ID, *made) })
	step(c, "page rule", func() (cloudflare.PageRule, error) { return c.api.PageRule(c.ctx, c.zone, made.ID) })
	step(c, "page rules", func() ([]cloudflare.PageRule, error) { return c.api.ListPageRules(c.ctx, c.zone) })
	done(c, "page rule gone", func() error { return c.api.DeletePageRule(c.ctx, c.zone, made.ID) })
}

func (c *course) previousWAF() {
	packages := step(c, "packages", func() ([]cloudflare.WAFPackage, error) { return c.api.ListWAFPackages(c.ctx, c.zone) })
	anomaly, traditional := "", ""
	for _, one := range packages {
		if one.DetectionMode == "anomaly" {
			anomaly = one.ID
		} else {
			traditional = one.ID
		}
	}
	step(c, "package", func() (cloudflare.WAFPackage, error) { return c.api.WAFPackage(c.ctx, c.zone, anomaly) })
	step(c, "package edited", func() (cloudflare.WAFPackage, error) {
		return c.api.UpdateWAFPackage(c.ctx, c.zone, anomaly, cloudflare.WAFPackageOptions{Sensitivity: "low"})
	})
	groups := step(c, "groups", func() ([]cloudflare.WAFGroup, error) { return c.api.ListWAFGroups(c.ctx, c.zone, traditional) })
	rules := step(c, "waf rules", func() ([]cloudflare.WAFRule, error) { return c.api.ListWAFRules(c.ctx, c.zone, traditional) })
	if len(groups) > 0 && len(rules) > 0 {
		group, rule := groups[0].ID, rules[0].ID
		step(c, "group edited", func() (any, error) { return c.api.UpdateWAFGroup(c.ctx, c.zone, traditional, group, "off") })
		step(c, "group", func() (any, error) { return c.api.WAFGroup(c.ctx, c.zone, traditional, group) })
		step(c, "waf rule edited", func() (any, error) { return c.api.UpdateWAFRule(c.ctx, c.zone, traditional, rule, "simulate") })
		step(c, "waf rule", func() (any, error) { return c.api.WAFRule(c.ctx, c.zone, traditional, rule) })
	}
	// Groups and the rewritten actions are sent as null.
	made := step(c, "override made", func() (cloudflare.WAFOverride, error) {
		return c.api.CreateWAFOverride(c.ctx, c.zone, cloudflare.WAFOverride{
			URLs: []string{"shop.example/*"}, Rules: map[string]string{"100008": "block"},
		})
	})
	step(c, "override changed", func() (cloudflare.WAFOverride, error) {
		return c.api.UpdateWAFOverride(c.ctx, c.zone, made.ID, cloudflare.WAFOverride{ID: made.ID, URLs: made.URLs})
	})
	step(c, "override", func() (cloudflare.WAFOverride, error) { return c.api.WAFOverride(c.ctx, c.zone, made.ID) })
	step(c, "overrides", func() ([]cloudflare.WAFOverride, error) { return c.api.ListWAFOverrides(c.ctx, c.zone) })
	done(c, "override gone", func() error { return c.api.DeleteWAFOverride(c.ctx, c.zone, made.ID) })
}

func main() {
	if len(os.Args) != 6 {
		fmt.Fprintln(os.Stderr, "give a base URL, a token, a zone, its account and the folder of the buckets")
		os.Exit(2)
	}
	api, err := cloudflare.NewWithAPIToken(
		os.Args[2],
		cloudflare.BaseURL(os.Args[1]),
		cloudflare.UsingRetryPolicy(0, 0, 0),
		cloudflare.UsingRateLimit(1000),
		cloudflare.HTTPClient(&http.Client{Timeout: time.Minute}),
	)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	c := &course{
		steps: map[string]any{}, api: api, ctx: context.Background(),
		zone: os.Args[3], account: os.Args[4], buckets: os.Args[5],
	}
	c.zones()
	c.rulesets()
	c.logs()
	c.firewall()
	c.pageRules()
	c.previousWAF()
	if err := json.NewEncoder(os.Stdout).Encode(c.steps); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
