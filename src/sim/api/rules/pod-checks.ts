import { text, type Tree, tree, trees } from '../model.ts';
import { formatQuantity, parseQuantity } from '../quantity.ts';
import { type Problem, problem, unsupported, wrong } from '../refusal.ts';

const restartPolicies = ['Always', 'OnFailure', 'Never'];
const labelName = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

/** What is wrong with a pod, or with the pod of a template. */
export function checkPodSpec(spec: Tree, path: string): Problem[] {
  const containers = trees(spec['containers']);
  const policy = spec['restartPolicy'];
  return [
    ...(containers.length === 0
      ? [problem(`${path}.containers`, 'Required')]
      : checkContainers(containers, `${path}.containers`)),
    ...checkContainers(trees(spec['initContainers']), `${path}.initContainers`),
    ...(restartPolicies.includes(text(policy)) ? [] : [unsupported(`${path}.restartPolicy`, policy, restartPolicies)]),
  ];
}

function checkContainers(containers: readonly Tree[], path: string): Problem[] {
  const names = containers.map(({ name }) => text(name));
  return containers.flatMap((container, i) => {
    const here = `${path}[${i}]`;
    const name = names[i]!;
    const problems: Problem[] = [];
    if (!name) problems.push(problem(`${here}.name`, 'Required'));
    else if (!labelName.test(name))
      problems.push(
        wrong(
          `${here}.name`,
          name,
          "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-'",
        ),
      );
    else if (names.indexOf(name) < i) problems.push(problem(`${here}.name`, 'Duplicate', JSON.stringify(name)));
    if (!text(container['image'])) problems.push(problem(`${here}.image`, 'Required'));
    return [...problems, ...checkResources(tree(container['resources']), `${here}.resources`)];
  });
}

function checkResources({ requests, limits }: Tree, path: string): Problem[] {
  return Object.entries(tree(requests)).flatMap(([name, amount]) => {
    const [wanted, most] = [parseQuantity(amount), parseQuantity(tree(limits)[name])];
    if (!wanted || !most || wanted.nano <= most.nano) return [];
    const why = `must be less than or equal to ${name} limit of ${formatQuantity(most)}`;
    return [wrong(`${path}.requests`, formatQuantity(wanted), why)];
  });
}
