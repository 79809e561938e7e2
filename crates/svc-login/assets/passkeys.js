// Passkeys on the pages of the log-in. Everything else on these pages works without scripts.
(() => {
  const toBytes = text =>
    Uint8Array.from(atob(text.replace(/-/g, '+').replace(/_/g, '/')), char => char.charCodeAt(0));
  const toText = buffer =>
    btoa(String.fromCharCode(...new Uint8Array(buffer))).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '');
  const toCredential = id => ({ type: 'public-key', id: toBytes(id) });

  async function use(options) {
    const { response, rawId } = await navigator.credentials.get({
      publicKey: {
        challenge: toBytes(options.challenge),
        rpId: options.party,
        userVerification: options.verification,
        allowCredentials: options.passkeys.map(toCredential),
      },
    });
    return {
      id: toText(rawId),
      clientDataJSON: toText(response.clientDataJSON),
      authenticatorData: toText(response.authenticatorData),
      signature: toText(response.signature),
      userHandle: response.userHandle ? toText(response.userHandle) : null,
    };
  }

  async function create(options) {
    const { response } = await navigator.credentials.create({
      publicKey: {
        challenge: toBytes(options.challenge),
        rp: { id: options.party, name: options.site },
        user: { id: toBytes(options.handle), name: options.login, displayName: options.name },
        pubKeyCredParams: options.algorithms.map(alg => ({ type: 'public-key', alg })),
        authenticatorSelection: { residentKey: 'preferred', userVerification: 'preferred' },
        excludeCredentials: options.passkeys.map(toCredential),
        attestation: 'none',
      },
    });
    return {
      clientDataJSON: toText(response.clientDataJSON),
      authenticatorData: toText(response.getAuthenticatorData()),
    };
  }

  const messages = {
    InvalidStateError: 'This device has a passkey of this account already.',
    NotAllowedError: 'No passkey was used. Try again, or go on without one.',
  };

  for (const part of document.querySelectorAll('[data-passkey]')) {
    const [button, problem] = [part.querySelector('button'), part.querySelector('[role=alert]')];
    const options = JSON.parse(part.dataset.options);
    if (!window.PublicKeyCredential) {
      if (part.dataset.passkey !== 'log-in') {
        problem.textContent = 'This browser has no passkeys.';
        problem.hidden = part.hidden = false;
        button.hidden = true;
      }
      continue;
    }
    part.hidden = false;
    button.addEventListener('click', async event => {
      event.preventDefault();
      problem.hidden = true;
      button.disabled = true;
      try {
        const response = await (part.dataset.passkey === 'add' ? create(options) : use(options));
        part.querySelector('[name=passkey]').value = JSON.stringify(response);
        if (part.dataset.passkey === 'confirm') {
          part.querySelector('[role=status]').hidden = false;
          button.hidden = true;
          const code = part.closest('form').querySelector('[name=code]');
          code.required = false;
          code.closest('p').hidden = true;
          return;
        }
        const remember = document.querySelector('[type=checkbox][name=rememberme]');
        const remembered = part.querySelector('[type=hidden][name=rememberme]');
        if (remember && remembered) remembered.value = remember.checked ? 'forever' : '';
        part.closest('form').submit();
      } catch (error) {
        problem.textContent = error.name === 'SecurityError'
          ? `Passkeys of this site work on ${options.party} only.`
          : messages[error.name] || 'The passkey cannot be used.';
        problem.hidden = false;
        button.disabled = false;
      }
    });
  }
})();
