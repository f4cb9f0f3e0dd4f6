#!/usr/bin/env node
// Old syntax on purpose: a Node that is too old must get as far as the sentence that says so.
import fs from 'fs';
import url from 'url';

const needed = [22, 19];
const found = process.versions.node.split('.').map(Number);
const tooOld = found[0] < needed[0] || (found[0] === needed[0] && found[1] < needed[1]);
const program = new URL('../dist/main.js', import.meta.url);

function complain(sentence) {
  console.error(sentence);
  process.exitCode = 1;
}

if (tooOld) {
  const versions = 'tapfix needs Node ' + needed.join('.') + ' or newer; this is ' + process.version + '. ';
  // Only a clone has a lockfile: in it npm can bring a Node of its own.
  const isClone = fs.existsSync(url.fileURLToPath(new URL('../package-lock.json', import.meta.url)));
  complain(
    isClone
      ? versions +
          'Install a newer one, or let npm bring its own: npm ci --ignore-scripts=false && npm run tapfix -- --help'
      : versions + 'Install a newer one.',
  );
} else if (fs.existsSync(url.fileURLToPath(program))) {
  import(program.href);
} else {
  complain('tapfix is not built yet: run npm run build first.');
}
