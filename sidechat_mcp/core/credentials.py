"""What credentials look like, as a table of families. A family is known by its own prefix or
shape, so that digests, ids, signatures and images are left alone."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from sidechat_mcp.core.chosen import looks_chosen, looks_random, looks_set


@dataclass(frozen=True, slots=True)
class Family:
    """`kind` is what stands in its place. Without one of the `cues` (lower case) in a text it is
    not looked for. The pattern's last group that took part is what is replaced, else the whole
    match, and only where `judge` agrees: it gets that piece and the character behind it."""

    kind: str
    cues: Sequence[str]
    pattern: str
    flags: int = re.ASCII
    judge: Callable[[str, str], bool] | None = None

    def redact(self, text: str) -> str:
        return _compiled(self.pattern, self.flags).sub(self._replaced, text)

    def _replaced(self, match: re.Match[str]) -> str:
        text = match.string
        start, stop = match.span(match.lastindex or 0)
        piece = text[start:stop]
        if self.judge is None or self.judge(piece, text[stop : stop + 1]):
            piece = f"[redacted: {self.kind}]"
        elif " " in piece:
            # A quoted sentence: what it says is looked through by itself.
            piece = self.redact(piece)
        return text[match.start() : start] + piece + text[stop : match.end()]


@cache
def _compiled(pattern: str, flags: int) -> re.Pattern[str]:
    # When first needed: most texts need few of them, and a start needs none.
    return re.compile(pattern, flags)


def _token(kind: str, pattern: str, *cues: str) -> Family:
    """A token that says itself what it is. The cue is its literal beginning unless given."""
    literal = re.match(r"[\w-]*", pattern, re.ASCII)
    found = cues or ((literal[0].lower(),) if literal else ())
    return Family(kind, found, r"(?<![A-Za-z0-9])" + pattern)


def _where(kind: str, cues: str, pattern: str, judge: Callable[[str, str], bool]) -> Family:
    """A credential that its surroundings give away."""
    return Family(kind, cues.split(), pattern, re.IGNORECASE | re.ASCII, judge)


_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"

_KEYS = (
    Family(
        "private key",
        ("private key",),
        r"-----BEGIN [A-Z0-9 ]{0,32}PRIVATE KEY(?: BLOCK)?-----"
        r"(?:(?:(?!-----BEGIN)[\s\S])*?-----END [A-Z0-9 ]{0,32}PRIVATE KEY(?: BLOCK)?-----"
        r"|(?:(?:\s|\\[rn]){1,4}[A-Za-z0-9+/=]{40,})*"
        r"(?:(?:\s|\\[rn]){1,4}[A-Za-z0-9+/]{0,62}={1,2})?)",
    ),
    Family("private key", ("private-lines",), r"Private-Lines: \d+([A-Za-z0-9+/=\s]+)"),
    _token("age key", r"AGE-SECRET-KEY-1[0-9A-Za-z]{50,}"),
    _token("JWT", r"(?<![_-])eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]+){1,3}", "eyj"),
)

_MODELS = (
    _token("Anthropic key", r"sk-ant-[\w-]{16,}"),
    _token("OpenRouter key", r"sk-or-[\w-]{20,}"),
    _token("Langfuse key", rf"sk-lf-{_UUID}", "sk-lf-"),
    _token("OpenAI key", r"sk-(?:proj|svcacct|admin|None)-[\w-]{16,}", "sk-"),
    _token("API key", r"sk-[A-Za-z0-9]{20,}", "sk-"),
    _token("Google API key", r"AIza[\w-]{35}"),
    _token("Hugging Face token", r"(?:hf|api_org)_[A-Za-z0-9]{30,}", "hf_", "api_org_"),
    _token("Replicate token", r"r8_[A-Za-z0-9]{30,}"),
    _token("Groq key", r"gsk_[A-Za-z0-9]{40,}"),
    _token("xAI key", r"xai-[A-Za-z0-9]{40,}"),
    _token("Perplexity key", r"pplx-[A-Za-z0-9]{40,}"),
    _token("Fireworks key", r"fw_(?=[A-Za-z]{0,40}\d)[A-Za-z0-9]{20,}"),
    _token("Cerebras key", r"csk-[a-z0-9]{40,}"),
    _token("NVIDIA key", r"nvapi-[\w-]{40,}"),
    _token("LangSmith key", r"lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}", "lsv2_"),
    _token("Pinecone key", r"pcsk_\w{40,}"),
    _token("Tavily key", r"tvly-(?:dev-|prod-)?[A-Za-z0-9]{20,}", "tvly-"),
    _token("Firecrawl key", r"fc-[0-9a-f]{32}"),
    _token("Jina key", r"jina_[0-9a-f]{32}[\w-]{20,}"),
    _token("ElevenLabs key", r"sk_[0-9a-f]{48}"),
    _token("Together key", r"tgp_v1_[\w-]{40,}"),
    _token("E2B key", r"e2b_[0-9a-f]{40}"),
    _token("Weights & Biases key", r"wandb_v1_\w{40,}"),
    _token("Kaggle token", r"KGAT_[0-9a-f]{32}"),
)

_CLOUDS = (
    _token(
        "AWS key",
        r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])",
        "akia",
        "asia",
        "abia",
        "acca",
    ),
    _token("AWS Bedrock key", r"ABSK[A-Za-z0-9+/]{100,}={0,2}"),
    _token("AWS Bedrock key", r"bedrock-api-key-[A-Za-z0-9+/=]{30,}"),
    _token("Google OAuth token", r"ya29\.[\w-]{20,}", "ya29."),
    _token("Google OAuth secret", r"GOCSPX-[\w-]{24,}"),
    _token("Google refresh token", r"1//0[\w-]{40,}", "1//0"),
    _token("Azure key", r"[A-Za-z0-9]{52}JQQJ9[A-Za-z0-9]{27}", "jqqj9"),
    _token("Azure client secret", r"[\w.~-]{3}\dQ~[\w.~-]{31,34}", "q~"),
    _token("Azure DevOps token", r"[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}", "azdo"),
    _token("DigitalOcean token", r"do[opr]_v1_[0-9a-f]{64}", "_v1_"),
    _token("Alibaba Cloud key", r"LTAI[A-Za-z0-9]{12,24}(?![A-Za-z0-9])"),
    _token("Tencent Cloud key", r"AKID[A-Za-z0-9]{32}(?![A-Za-z0-9])"),
    _token("Yandex Cloud key", r"AQVN[\w-]{35,}"),
    _token("Heroku key", r"HRKU-[\w-]{36,}"),
    _token("Fly.io token", r"f(?:m[12]r?|o1)_[\w+/=-]{40,}", "fm1", "fm2", "fo1_"),
    _token(
        "Vercel token", r"(?:vc[apikr]_[A-Za-z0-9]{24,}|vercel_blob_rw_\w{20,})", "vc", "vercel_"
    ),
    _token("Netlify token", r"nf[apub]_[A-Za-z0-9]{36,}", "nf"),
    _token(
        "Cloudflare token",
        r"(?:cf(?:ut|at|k)_[A-Za-z0-9]{40,}|v1\.0-[0-9a-f]{24}-[0-9a-f]{146})",
        "cf",
        "v1.0-",
    ),
    _token("Supabase key", r"(?:sbp_[0-9a-f]{40}|sb_secret_[\w-]{20,})", "sbp_", "sb_secret_"),
    _token("PlanetScale token", r"pscale_(?:tkn|pw|oauth)_[\w=.-]{30,}", "pscale_"),
    _token("Neon key", r"napi_[a-z0-9]{40,}"),
    _token("Databricks token", r"dapi[0-9a-f]{32}(?:-\d)?"),
    _token("Pulumi token", r"pul-[0-9a-f]{40}"),
    _token("Terraform token", r"[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{60,}", "atlasv1"),
    _token("Vault token", r"hv[sbr]\.[\w-]{24,}", "hvs.", "hvb.", "hvr."),
    _token("Doppler token", r"dp\.(?:pt|st|ct|sa|scim|audit)\.[\w.-]{40,}", "dp."),
    _token(
        "1Password token",
        r"(?:ops_eyJ[\w+/=-]{40,}|A3-[A-Z0-9]{6}(?:-[A-Z0-9]{5,11}){4,6})",
        "ops_eyj",
        "a3-",
    ),
    _token("OpenShift token", r"sha256~[\w-]{43}"),
    _token("Tailscale key", r"tskey-[a-z]+-[\w-]{16,}"),
    _token("Scaleway key", r"SCW[A-Z0-9]{17}(?![A-Za-z0-9])"),
)

_CODE = (
    _token("GitHub token", r"gh[opusr]_[A-Za-z0-9]{36,}", "gho_", "ghp_", "ghu_", "ghs_", "ghr_"),
    _token("GitHub token", r"github_pat_\w{22,}"),
    _token(
        "GitLab token",
        r"gl(?:pat|dt|rt|rtr|ptt|ft|cbt|imt|agent|oas|soat|ffct|wt)-[\w=.-]{20,}",
        "gl",
    ),
    _token("GitLab token", r"GR1348941[\w-]{20}"),
    _token("Bitbucket token", r"ATBB[A-Za-z0-9]{24,}"),
    _token("Atlassian token", r"AT(?:ATT|CTT|STT)3[\w=.+/-]{50,}", "att3", "ctt3", "stt3"),
    _token("npm token", r"npm_[A-Za-z0-9]{30,}"),
    _token("PyPI token", r"pypi-Ag[\w-]{16,}"),
    _token("RubyGems key", r"rubygems_[0-9a-f]{48}"),
    _token("NuGet key", r"(?<![+/])oy2[a-z0-9]{43}(?![A-Za-z0-9+/])", "oy2"),
    _token("crates.io token", r"(?<![+/])cio[A-Za-z0-9]{32}(?![A-Za-z0-9+/])", "cio"),
    _token("Clojars token", r"CLOJARS_[a-z0-9]{60}"),
    _token("Docker token", r"dckr_[po]at_[\w-]{20,}", "dckr_"),
    _token(
        "Artifactory key", r"(?:AKCp[A-Za-z0-9]{60,}|cmVmdGtu[A-Za-z0-9]{56,})", "akcp", "cmvmdgtu"
    ),
    _token("SonarQube token", r"sq[apu]_[0-9a-f]{40}", "sqa_", "sqp_", "squ_"),
    _token("Snyk token", r"snyk_[us]at\.[\w.-]{30,}", "snyk_"),
    _token("CircleCI token", r"CCI(?:PAT|PRJ)_\w{22,}", "ccipat_", "cciprj_"),
    _token("Buildkite token", r"bk[a-z]{2}_[0-9a-f]{40}", "bk"),
    _token("Sourcegraph token", r"sgp_[\w-]{40,}"),
    _token("Postman key", r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}", "pmak-"),
    _token("Prefect key", r"pn[bu]_[A-Za-z0-9]{36}", "pnb_", "pnu_"),
    _token("Infracost key", r"ico-[A-Za-z0-9]{32}"),
    _token("Harness token", r"[ps]at\.[\w-]{22}\.[0-9a-f]{24}\.[A-Za-z0-9]{20}", "at."),
    _token("ReadMe key", r"rdme_[a-z0-9]{60,}"),
)

_SERVICES = (
    _token("Slack token", r"xox[a-z](?:\.xox[a-z])?-[\w-]{10,}", "xox"),
    _token("Slack token", r"xapp-\d-[\w-]{16,}", "xapp-"),
    _token(
        "Slack webhook",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/[\w/+-]{20,}",
        "hooks.slack",
    ),
    _token("Discord token", r"[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,}", "."),
    _token(
        "Discord webhook", r"discord(?:app)?\.com/api/webhooks/\d+/[\w-]{40,}", "/api/webhooks/"
    ),
    _token("Telegram token", r"\d{8,12}:AA[\w-]{33}", ":aa"),
    _token(
        "Teams webhook",
        r"[\w-]{1,64}\.webhook\.office\.com/webhookb2/[\w@/-]{30,}",
        "webhook.office",
    ),
    _token("Zapier webhook", r"hooks\.zapier\.com/hooks/catch/\d+/\w+", "hooks.zapier"),
    _token(
        "Stripe key", r"[sr]k_(?:live|test|prod)_[A-Za-z0-9]{10,}", "k_live_", "k_test_", "k_prod_"
    ),
    _token("webhook secret", r"whsec_[A-Za-z0-9+/=]{24,}"),
    _token("Square token", r"sq0[a-z]{3}-[\w-]{22,}", "sq0"),
    _token("Square token", r"EAAA[\w-]{60}(?![\w+/-])"),
    _token("Meta token", r"EAA[A-Za-z0-9]{100,}(?![\w+/-])"),
    _token("Braintree token", r"access_token\$\w+\$[a-z0-9]{16}\$[0-9a-f]{32}", "access_token$"),
    _token("Plaid token", rf"access-(?:sandbox|development|production)-{_UUID}", "access-"),
    _token("Shopify token", r"shp(?:at|ca|pa|ss|ua)_[0-9a-fA-F]{32}", "shp"),
    _token("Flutterwave key", r"FLWSECK(?:_TEST)?-[0-9a-zA-Z]{12,}(?:-X)?", "flwseck"),
    _token("Shippo token", r"shippo_(?:live|test)_[0-9a-f]{40}", "shippo_"),
    _token("EasyPost key", r"EZ[AT]K[A-Za-z0-9]{54}", "ezak", "eztk"),
    _token("Duffel token", r"duffel_(?:live|test)_[\w-]{40,}", "duffel_"),
    _token("Twilio key", r"SK[0-9a-f]{32}(?![A-Za-z0-9])"),
    _token("SendGrid key", r"SG\.[\w-]{16,32}\.[\w-]{16,64}", "sg."),
    _token("Mailgun key", r"key-[0-9a-f]{32}(?![A-Za-z0-9])"),
    _token("Mailgun key", r"[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}(?![A-Za-z0-9-])", "-"),
    _token("Mailchimp key", r"[0-9a-f]{32}-us\d{1,2}(?!\w)", "-us"),
    _token("Brevo key", r"x(?:keysib|smtpsib)-[0-9a-f]{64}-\w{16}", "sib-"),
    _token("MailerSend token", r"mlsn\.[0-9a-f]{64}", "mlsn."),
    _token("Resend key", r"re_[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}"),
    _token("Linear key", r"lin_(?:api|oauth|wh)_[A-Za-z0-9]{32,}", "lin_"),
    _token(
        "Notion token", r"(?:ntn_[A-Za-z0-9]{40,}|secret_[A-Za-z0-9]{43}(?!\w))", "ntn_", "secret_"
    ),
    _token("Airtable token", r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}", "pat"),
    _token("Asana token", r"[0-2]/\d{12,17}(?:/\d{12,17})?:[0-9a-f]{32}", "/"),
    _token("Figma token", r"fig[dour]_[\w-]{40,}", "fig"),
    _token("HubSpot token", rf"pat-(?:na|eu|ap)\d-{_UUID}", "pat-"),
    _token("Typeform token", r"tfp_[\w.=-]{40,}"),
    _token("Contentful token", r"CFPAT-[\w-]{40,}"),
    _token("Mapbox token", r"sk\.eyJ[\w-]{20,}\.[\w-]{20,}", "sk.eyj"),
    _token("Sentry token", r"sntry[su]_[\w+/=-]{40,}", "sntr"),
    _token("New Relic key", r"NR(?:AK|II|IQ|JS|RA|SP)-[A-Za-z0-9_-]{20,}", "nr"),
    _token(
        "Grafana token",
        r"gl(?:c_[A-Za-z0-9+/=]{32,}|sa_[A-Za-z0-9]{32}_[0-9a-f]{8})",
        "glc_",
        "glsa_",
    ),
    _token("Dynatrace token", r"dt0[a-z]\d{2}\.[A-Z0-9]{24}\.[A-Z0-9]{64}", "dt0"),
    _token("PostHog key", r"ph[rsx]_[\w-]{40,}", "phr_", "phs_", "phx_"),
    _token("LaunchDarkly key", rf"(?:api|mob|sdk)-{_UUID}", "api-", "mob-", "sdk-"),
    _token("Adafruit key", r"aio_[A-Za-z0-9]{28}"),
    _token("X token", r"A{18,22}[A-Za-z0-9]{4,60}%[A-Za-z0-9%]{20,}", "aaaaaaaaaaaaaaaaaa"),
    _token("password hash", r"\$(?:2[abxy]|5|6|7|y|argon2id?)\$[\w./$=,+-]{24,}", "$"),
)

_SECRET_NAMES = (
    r"(?:pass(?:word|wd|phrase|code)|pwd|secret|token(?!s)|credential|bearer|auth"
    r"|(?:api|access|auth|account|app|client|encryption|master|private|secret|service|shared"
    r"|signing|storage|subscription)[ _.-]?(?:key|secret|token|pass)(?:[ _.-]?(?:id|value))?)"
)
_VALUE = (
    r"(?:\"((?:[^\"\\\n]|\\[^\n])+)|'((?:[^'\\\n]|\\[^\n])+)|`([^`\n]+)"
    r"|\\+[\"']([^\"'\\\n]+)|([^\s\"'`,;(){}<>\[\]\\&|]+))"
)
_SETTINGS = (
    r"(?<![A-Za-z0-9_])[A-Z0-9_]{0,40}?(?:PASSWORD|PASSWD|PASSPHRASE|SECRET|TOKEN"
    r"|(?:API|ACCESS|SECRET|PRIVATE|ENCRYPTION|SIGNING|MASTER|AUTH)_KEY)(?:_BASE)?"
)
_QUOTES = r"(?:\\{0,3}[\"'`])?"

_PLACES = (
    _where(
        "password",
        "://",
        r"(?<![a-z0-9])[a-z][a-z0-9+.-]{1,30}://[^\s:/?#@\"'<>\[\]]{0,256}:([^\s/\"'<>\[\]]{1,512})@",
        lambda piece, _: not piece.startswith(("$", "{", "*")),
    ),
    _where("token", "://", r"https?://([\w.~-]{20,512})(?::x-oauth-basic)?@", looks_random),
    _where(
        "credentials",
        "authorization",
        rf"authorization{_QUOTES}\s{{0,4}}[:=]\s{{0,4}}{_QUOTES}"
        r"(?:(?:bearer|basic|token|digest|apikey|negotiate|bot)\s{1,4})?([^\s\"'`,;<>\[\]{}$\\]{8,})",
        looks_random,
    ),
    _where("token", "bearer", r"\bbearer\s{1,4}([\w.~+/=-]{16,})", looks_random),
    _where(
        "cookie",
        "cookie:",
        r"\b(?:set-)?cookie:\s{0,4}([^\s\"'`=;\[\]]{1,128}=[^\r\n\"'`\[\]]{8,})",
        looks_random,
    ),
    _where(
        "secret",
        "<",
        r"<[\w:.-]{0,40}?(?:password|passwd|secret|token|apikey|accesskey)>([^<\s]{4,})(?=</)",
        looks_chosen,
    ),
    _where(
        "secret",
        "= %3d",
        rf"[?&][\w.-]{{0,24}}?(?:{_SECRET_NAMES}|key|sig|signature|code)(?:=|%3D)([^\s&#\"'`<>\[\]]{{8,}})",
        looks_random,
    ),
    _where(
        "password",
        "curl",
        r"\bcurl\b[^\n]{0,300}?\s(?:-u|--user)[ =]?[\"']?[^\s:\"']{1,99}:([^\s\"']{3,})",
        looks_chosen,
    ),
    _where("password", "sshpass", r"\bsshpass\s{1,4}-p\s{0,4}[\"']?([^\s\"']{3,})", looks_chosen),
    _where(
        "password",
        "machine",
        r"\bmachine\s{1,9}\S{1,255}\s{1,9}login\s{1,9}\S{1,255}\s{1,9}password\s{1,9}(\S+)",
        looks_chosen,
    ),
    _where("secret", "--", rf"--[a-z-]{{0,24}}?{_SECRET_NAMES}[= ]\s{{0,4}}{_VALUE}", looks_chosen),
    _where(
        "password",
        "pass",
        r"\bpass(?:word|phrase|code) is:? \\{0,3}[\"'`]?([^\s\"'`\[\]\\]{5,})",
        looks_chosen,
    ),
    Family("secret", ("=",), rf"{_SETTINGS}={_VALUE}", judge=looks_set),
    _where(
        "secret",
        "pass pwd secret token credential key auth",
        rf"{_SECRET_NAMES}{_QUOTES}\s{{0,4}}(?:=>|:=|={{1,2}}|:)\s{{0,4}}{_VALUE}",
        looks_chosen,
    ),
)

FAMILIES: Sequence[Family] = (*_KEYS, *_MODELS, *_CLOUDS, *_CODE, *_SERVICES, *_PLACES)
